import { Discoverer } from '../../../packages/causeway/src/discovery/discoverer.ts';
import { annotations } from '../../../packages/causeway/src/discovery/ownership.ts';
import { discoverySettings } from '../../../packages/causeway/src/discovery/settings.ts';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { secrets } from '../../../packages/kubernetes/src/objects/resources.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { accounts } from '../../../packages/fake-openstack/src/seed.ts';
import { OctaviaWorld } from '../octavia/octavia-world.ts';
import { SimulatedOpenStackCarrier } from '../openstack-carrier.ts';

const memberAddress = '10.10.1.1';
const memberPort = 8080;

/** A cloud where load balancers are created and deleted, and discoverers are started and killed. */
class DiscoveryWorld extends OctaviaWorld {
  readonly #never = new AbortController().signal;
  #started = 0;

  async writeSecret(): Promise<void> {
    const { user, password } = accounts.demo;
    const plain = {
      'auth-url': this.openstack.authUrl,
      username: user,
      password,
      'project-name': accounts.demo.project,
      region: this.openstack.region,
    };
    const data = Object.fromEntries(
      Object.entries(plain).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );
    const metadata = { namespace: 'default', name: 'east' };
    await this.complete(this.user.create(secrets, { metadata, data }));
  }

  startDiscoverer(): SimulatedProcess {
    this.#started += 1;
    const process = this.simulation.process(`discoverer ${this.#started}`);
    const settings = discoverySettings.parse({
      backendName: 'east',
      secret: 'default/east',
      intervalSeconds: 5,
    });
    const discoverer = new Discoverer(settings, {
      client: this.kubeClient(process),
      recordEvent: () => true,
      clock: process.clock,
      environment: {},
      workingDirectory: '/nowhere',
      log: discardLog,
      metrics: noMetrics,
      transport: new SimulatedOpenStackCarrier(this.openstack, process),
      random: this.simulation.random,
    });
    discoverer.run(true, this.#never).catch(() => process.kill());
    return process;
  }

  async addBalancer(name: string): Promise<string> {
    const [subnet] = this.openstack.neutron.subnets
      .all()
      .filter((row) => row.name === 'private-v4');
    const member = { address: parseAddress(memberAddress), port: parsePort(memberPort) };
    const defaultPool = {
      name: 'p',
      protocol: 'HTTP' as const,
      algorithm: 'ROUND_ROBIN' as const,
      members: [member],
    };
    const listener = { name: 'http', protocol: 'HTTP' as const, port: parsePort(80), defaultPool };
    const { id } = await this.byHand(({ balancing, signal }) =>
      balancing.createLoadBalancer(
        { name, vipSubnetId: subnet?.id ?? '', listeners: [listener] },
        { signal, once: 'name' },
      ),
    );
    return id;
  }

  /** The load balancers that the cluster shows, with repetitions. */
  shown(): string[] {
    const all: readonly Service[] = this.kubernetes.cluster.store.list('services');
    return all
      .map(({ metadata }) => metadata?.annotations?.[annotations.discoveredFrom]?.split('/')[1])
      .filter((id) => id !== undefined)
      .sort();
  }

  /** The load balancers that have endpoints in the cluster, with the endpoints' addresses. */
  led(): string[] {
    return this.slices().flatMap(({ metadata, endpoints, ports }) => {
      const id = metadata?.annotations?.[annotations.discoveredFrom]?.split('/')[1];
      const places = (endpoints ?? []).flatMap(({ addresses }) =>
        addresses.flatMap((address) => ports?.map(({ port }) => `${address}:${port}`)),
      );
      return id === undefined ? [] : [`${id} to ${places.join()}`];
    });
  }

  present(): string[] {
    return this.openstack.octavia.loadBalancers
      .all()
      .map(({ id }) => id)
      .sort();
  }
}

/**
 * Load balancers are created and one is deleted, while the discoverer is killed at a call that the seed
 * chooses.
 */
export async function runDiscoverySchedule(seed: number): Promise<void> {
  const world = new DiscoveryWorld(seed, { hasteMs: 100 });
  const { random } = world.simulation;
  await world.writeSecret();
  const first = await world.addBalancer('web');
  const dying = world.startDiscoverer();
  dying.killAt(1 + Math.floor(random() * 60), random() < 0.5 ? 'before' : 'after');
  await world.addBalancer('mail');
  await world.simulation.runFor(Math.floor(random() * 15_000));
  dying.kill();
  world.startDiscoverer();
  await world.byHand(({ balancing, signal }) =>
    balancing.waiter
      .active(first, { signal })
      .then(() => balancing.deleteLoadBalancer(first, { signal, cascade: true })),
  );
  await world.simulation.runUntil(
    () => {
      const shown = world.shown();
      if (new Set(shown).size < shown.length) throw new Error('a load balancer is shown twice');
      const [only, ...others] = world.present();
      const isLed = world.led().join() === `${only} to ${memberAddress}:${memberPort}`;
      return only !== undefined && others.length === 0 && shown.join() === only && isLed;
    },
    { maxSteps: 30_000 },
  );
}
