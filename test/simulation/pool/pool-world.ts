import { parseAddress, type Address } from '../../../packages/base/src/address/address.ts';
import { EventRecorder } from '../../../packages/kubernetes/src/events/event-recorder.ts';
import type {
  Service,
  ServiceSpec,
} from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { makePoolProvider } from '../../../packages/causeway/src/pool/make-pool-provider.ts';
import { ServiceController } from '../../../packages/causeway/src/services/service-controller.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import type { SimulatedProcess } from '../../../packages/base/src/simulation/simulation.ts';
import { supervise } from '../../../packages/base/src/work/supervisor.ts';
import { SimulatedWorld, type WorldOptions } from '../world.ts';
import { SimulatedAnnouncer, type SimulatedKind } from './simulated-announcer.ts';
import { SimulatedIpam } from './simulated-ipam.ts';
import { eventType } from '../../../packages/causeway/src/cli/event-definitions.ts';

const here = { site: 'edge', cluster: 'blue' };
export const quarantineMs = 60_000;

/** A cluster with an announcer, the shared ledger, and controllers that are started and killed. */
export class PoolWorld extends SimulatedWorld {
  readonly ipam: SimulatedIpam;
  readonly announcer: SimulatedAnnouncer;
  readonly #announcing: SimulatedProcess;
  /** Called after every step. */
  onStep: () => void = () => {};
  readonly #kind: SimulatedKind;
  #controllers = 0;
  readonly #never = new AbortController().signal;

  private constructor(seed: number, kind: SimulatedKind, options: WorldOptions) {
    super(seed, options);
    this.#kind = kind;
    this.ipam = new SimulatedIpam(this.simulation);
    const process = this.simulation.process('announcer');
    this.#announcing = process;
    this.announcer = new SimulatedAnnouncer(kind, this.kubeClient(process), process.clock);
  }

  static async create(
    seed: number,
    addresses: string | readonly string[],
    kind: SimulatedKind,
    options: WorldOptions = {},
  ): Promise<PoolWorld> {
    const world = new PoolWorld(seed, kind, options);
    const { ipam } = world;
    const site = { params: { site: 'edge' } };
    const times = { quarantineMs, unconfirmedQuarantineMs: 10 * quarantineMs };
    await ipam.ask('setSite', { ...site, body: times });
    const pool = { addresses: [addresses].flat() };
    await ipam.ask('setPool', { params: { site: 'edge', pool: 'p' }, body: pool });
    const selfWithdrawal = { afterMs: 60_000, graceMs: 30_000 };
    await ipam.ask('createCluster', { ...site, body: { cluster: 'blue', selfWithdrawal } });
    void world.announcer.run();
    return world;
  }

  startController(): SimulatedProcess {
    this.#controllers += 1;
    const process = this.simulation.process(`controller ${this.#controllers}`);
    const client = this.kubeClient(process);
    const { random } = this.simulation;
    const common = { client, clock: process.clock, random, log: discardLog, metrics: this.metrics };
    const recorder = new EventRecorder({
      ...common,
      component: 'c',
      instance: process.name,
      eventType,
    });
    const provider = makePoolProvider({
      ...common,
      ...here,
      ipam: this.ipam.client(process),
      announcer: this.#kind,
      node: undefined,
      classes: [],
      heartbeatMs: 10_000,
      driftEveryMs: 30_000,
      withdrawalMs: 30_000,
      // Not supported with kube-vip.
      selfWithdrawal: this.#kind !== 'kube-vip',
      namespace: 'kube-system',
    });
    const controller = new ServiceController({
      ...common,
      providers: { all: [provider], defaultName: 'pool' },
      recordEvent: (service, reason, message) =>
        recorder.record(services, service, { reason, message }),
      workers: 4,
    });
    void supervise(this.#never, {
      events: (inner) => recorder.run(inner),
      services: (inner) => controller.run(inner),
    });
    return process;
  }

  /** It keeps announcing, and gets no changes. */
  pauseAnnouncer(ms: number): void {
    this.#announcing.pause();
    this.simulation.clock.timer(ms, () => this.#announcing.resume());
  }

  async createService(
    name: string,
    announcer: SimulatedKind | 'plain' = this.#kind,
    spec: ServiceSpec = {},
  ): Promise<void> {
    const annotations = { 'causeway.dev/announcer': announcer };
    await this.complete(
      this.user.create(services, {
        metadata: { namespace: 'default', name, annotations },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
      }),
    );
  }

  async changeService(name: string, spec: ServiceSpec): Promise<void> {
    const where = { namespace: 'default', name };
    await this.complete(this.user.patchMerge(services, where, { spec }));
  }

  async deleteService(name: string): Promise<void> {
    await this.complete(this.user.delete(services, { namespace: 'default', name }));
  }

  async reclaim(): Promise<void> {
    await this.ipam.ask('reclaimCluster', { params: here, body: {} });
  }

  services(): readonly Service[] {
    return this.kubernetes.cluster.store.list('services');
  }

  addressOf(name: string): string | undefined {
    return this.addressesOf(name)[0];
  }

  addressesOf(name: string): Address[] {
    const service = this.services().find(({ metadata }) => metadata?.name === name);
    return (service?.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => parseAddress(ip));
  }

  /** Runs until the goal holds; violations are checked after every step. */
  async until(goal: () => boolean, maxSteps = 20_000): Promise<void> {
    await this.simulation.runUntil(
      () => {
        this.#refuseViolations();
        this.#refuseStatusWithoutOwner();
        this.onStep();
        return goal();
      },
      { maxSteps },
    );
  }

  readonly #rests = new Map<string, number>();

  /** No other Service has an announced address, and an address released as withdrawn is not announced. */
  #refuseViolations(): void {
    const now = this.simulation.clock.wallTime();
    const known = new Map(this.ipam.addresses().map((entry) => [entry.address, entry]));
    for (const [uid, { key, addresses }] of this.announcer.announcing) {
      for (const address of addresses) {
        const { owners = [], until } = known.get(parseAddress(address)) ?? {};
        if (owners.length > 0 && !owners.includes(uid)) {
          throw this.#violation(`${address} is announced for ${key}, others hold it`);
        }
        if (until === undefined || this.#rests.get(address) === until) continue;
        this.#rests.set(address, until);
        if (until - now <= quarantineMs) {
          throw this.#violation(`${address} was released as withdrawn while it was announced`);
        }
      }
    }
  }

  /** With `plain` only the status counts: it never shows an address that the Service does not hold. */
  #refuseStatusWithoutOwner(): void {
    const owners = new Map(this.ipam.addresses().map((entry) => [entry.address, entry.owners]));
    for (const service of this.services()) {
      if (service.metadata?.annotations?.['causeway.dev/announcer'] !== 'plain') continue;
      for (const { ip = '' } of service.status?.loadBalancer?.ingress ?? []) {
        if (owners.get(parseAddress(ip))?.includes(service.metadata.uid ?? '') === true) continue;
        throw this.#violation(
          `${ip} is in the status of ${service.metadata.name}, which does not hold it`,
        );
      }
    }
  }

  #violation(what: string): Error {
    return new Error(`${what}\n  ${this.simulation.trace.slice(-30).join('\n  ')}`);
  }
}
