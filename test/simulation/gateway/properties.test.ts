import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOf, nameFromKey } from '../../../packages/kubernetes/src/objects/object.ts';
import {
  keepFloatingIpAnnotation,
  portsAnnotation,
  readPortIds,
} from '../../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import {
  addressAnnotation,
  sharingKeyAnnotation,
} from '../../../packages/causeway/src/services/annotations.ts';
import { recordAnnotation } from '../../../packages/causeway/src/services/record.ts';
import type { Annotations } from '../../../packages/causeway/src/services/provider.ts';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { GatewayWorld } from './gateway-world.ts';
import { announcedWithoutPort, ownedTwice, portsOf } from './invariants.ts';
import { life, type Act, type DesiredService } from './random-life.ts';
import { frontendFromService } from '../../../packages/causeway/src/services/frontend-from-service.ts';

const keys = ['default/a', 'default/b', 'default/c', 'red/a', 'red/b', 'blue/a'];

/** A world with a record of addresses: which Service had which, and which has had a reason to lose it. */
class Life {
  readonly world: GatewayWorld;
  #controller: SimulatedProcess;
  #addresses = new Map<string, string>();
  readonly #excused = new Set<string>();
  /** Services that request another's address, until the controller has corrected that. */
  readonly #seizing = new Set<string>();
  /** Fixed addresses with a port that was deleted from outside. */
  readonly #lost = new Set<string>();

  constructor(world: GatewayWorld) {
    this.world = world;
    this.#controller = world.startController();
  }

  async take(act: Act): Promise<void> {
    const { world } = this;
    switch (act.kind) {
      case 'create': {
        const { namespace = '', name } = nameFromKey(keyAt(act.service));
        if (this.#find(act.service) !== undefined) return;
        const annotations = present(annotationsOf(act.desired));
        const spec = familiesOf(act.families);
        return world.createService(name, { namespace, ports: act.ports, annotations, spec });
      }
      case 'change spec': {
        if (this.#find(act.service) === undefined) return;
        this.#excused.add(keyAt(act.service));
        const desired = annotationsOf(act.desired);
        return world.annotateService(nameFromKey(keyAt(act.service)), desired);
      }
      case 'change ports':
        return this.#change(act.service, () => ({
          ports: act.ports.map((port) => ({ name: `p${port}`, port })),
        }));
      case 'change type':
        return this.#change(act.service, (type) => ({
          type: type === 'LoadBalancer' ? 'ClusterIP' : 'LoadBalancer',
        }));
      case 'delete':
        return this.#delete(act.service);
      case 'delete by force': {
        if (this.#find(act.service) === undefined) return;
        const name = nameFromKey(keyAt(act.service));
        await world.forceFinalizers(name);
        return this.#delete(act.service);
      }
      case 'lose port': {
        const [id, address] = pick([...portsOf(world)], act.which) ?? ['', ''];
        // An address of the controller's own list can't be deleted from outside.
        if (id === '' || world.isStatic) return;
        this.#excuseUsersOf(id);
        this.#lost.add(address);
        return world.losePort(id);
      }
      case 'lose floating IP': {
        const row = pick(world.openstack.neutron.floatingIps.all(), act.which);
        if (row === undefined) return;
        this.#excuseUsersOf(row.port_id ?? '');
        return world.loseFloatingIp(row.id);
      }
      case 'gateway': {
        const agent = pick([...world.agents.values()], act.which);
        if (agent !== undefined) agent.mode = act.mode;
        return;
      }
      case 'restart':
        this.#controller.kill();
        this.#controller = world.startController();
        return;
      case 'change unseen':
        this.#controller.kill();
        await this.take({ ...act, kind: 'change ports' });
        this.#controller = world.startController();
        return;
      case 'change spec unseen':
        this.#controller.kill();
        await this.take({ ...act, kind: 'change spec' });
        this.#controller = world.startController();
        return;
      case 'seize unseen':
        this.#controller.kill();
        await this.#seize(act.service, act.victim);
        this.#controller = world.startController();
        return;
      case 'exhaust':
        world.limit(act.what);
        return;
      case 'steps': {
        let left = act.count;
        return world.simulation.runUntil(() => {
          expect(this.#always()).toEqual([]);
          left -= 1;
          return left < 0;
        });
      }
      case 'settle':
        return this.settle();
    }
  }

  /** All gateways work again; everything recovers, and no Service has lost an address without cause. */
  async settle(): Promise<void> {
    for (const agent of this.world.agents.values()) agent.mode = 'works';
    this.world.limit(undefined);
    await this.world.settle(() => this.#always());
    await this.world.simulation.runFor(1_000);
    await this.world.settle(() => this.#always());
    const now = addressesOf(this.world);
    for (const [key, address] of this.#addresses) {
      const isExcused = this.#excused.has(key) || !now.has(key);
      if (!isExcused) expect(`${key} ${now.get(key)}`).toBe(`${key} ${address}`);
    }
    this.#addresses = now;
    this.#excused.clear();
    this.#seizing.clear();
    this.#lost.clear();
  }

  #always(): string[] {
    const announced = announcedWithoutPort(this.world).filter(
      (problem) => ![...this.#lost].some((address) => problem.includes(` ${address},`)),
    );
    return [...ownedTwice(this.world, this.#seizing), ...announced];
  }

  /** A user copies the annotations of another Service, or the whole Service. */
  async #seize(service: number, victim: number): Promise<void> {
    const { metadata, spec } = this.#find(victim) ?? {};
    const { [portsAnnotation]: place, [recordAnnotation]: record } = metadata?.annotations ?? {};
    if (place === undefined || record === undefined || service === victim) return;
    const { namespace = '', name } = nameFromKey(keyAt(service));
    this.#excused.add(keyAt(service));
    this.#seizing.add(keyAt(service));
    const stolen = { [portsAnnotation]: place };
    if (this.#find(service) !== undefined) {
      return this.world.annotateService({ namespace, name }, stolen);
    }
    const ports = (spec?.ports ?? []).map(({ port }) => port);
    const annotations = { ...stolen, [recordAnnotation]: record };
    return this.world.createService(name, { namespace, ports, annotations });
  }

  #find(index: number) {
    return this.world.services().find((service) => keyOf(service) === keyAt(index));
  }

  async #change(index: number, spec: (type: string | undefined) => object): Promise<void> {
    const service = this.#find(index);
    if (service === undefined || service.metadata?.deletionTimestamp !== undefined) return;
    const { namespace = '', name } = nameFromKey(keyAt(index));
    this.#excused.add(keyAt(index));
    await this.world.patchService(name, spec(service.spec?.type), namespace);
  }

  async #delete(index: number): Promise<void> {
    if (this.#find(index) === undefined) return;
    const { namespace = '', name } = nameFromKey(keyAt(index));
    this.#excused.add(keyAt(index));
    await this.world.deleteService(name, namespace);
  }

  #excuseUsersOf(portId: string): void {
    for (const service of this.world.services()) {
      if ([...readPortIds(frontendFromService(service)).values()].includes(portId))
        this.#excused.add(keyOf(service));
    }
  }
}

/** A few addresses that Services request, in the subnet of the gateways. */
const requestable = ['', '10.10.200.1', '10.10.200.2'];

function annotationsOf({ address, isShared, keep }: DesiredService): Annotations {
  return {
    [addressAnnotation]: requestable[address] || null,
    [sharingKeyAnnotation]: isShared ? 'edge' : null,
    [keepFloatingIpAnnotation]: keep ?? null,
  };
}

function present(annotations: Annotations): Record<string, string> {
  const given = Object.entries(annotations).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
  return Object.fromEntries(given);
}

function familiesOf(families: 'IPv4' | 'IPv6' | 'both') {
  return families === 'both'
    ? { ipFamilies: ['IPv4', 'IPv6'] as const, ipFamilyPolicy: 'RequireDualStack' as const }
    : { ipFamilies: [families], ipFamilyPolicy: 'SingleStack' as const };
}

const keyAt = (index: number): string => keys[index % keys.length] ?? '';
const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % list.length];

function addressesOf(world: GatewayWorld): Map<string, string> {
  return new Map(
    world
      .services()
      .filter(({ spec }) => spec?.type === 'LoadBalancer')
      .map((service) => [
        keyOf(service),
        (service.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip).join(),
      ]),
  );
}

test.each([
  ['addresses from Neutron', false],
  ['addresses of a list', true],
])(
  'with %s, everything recovers after any events, and no Service loses an address without cause',
  async (_, isStatic) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), life, async (seed, acts) => {
        const world = await GatewayWorld.create(seed, {
          hasteMs: 300,
          driftEveryMs: 20_000,
          isDualStack: true,
          isStatic,
        });
        const story = new Life(world);
        for (const act of acts) await story.take(act);
        await story.settle();
      }),
      // Random seeds are for searches: CAUSEWAY_RUNS=2000 CAUSEWAY_SEED=7. The default runs are always the
      // same.
      {
        numRuns: Number(process.env['CAUSEWAY_RUNS'] ?? 60),
        seed: Number(process.env['CAUSEWAY_SEED'] ?? 1),
        interruptAfterTimeLimit: 150_000,
        // An interrupted search does not count as a success.
        markInterruptAsFailure: true,
      },
    );
  },
);
