import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { BoundedFrequencyRunner } from '@causeway/base/work/bounded-frequency-runner';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { supervise } from '@causeway/base/work/supervisor';
import { whenSynced } from '@causeway/kubernetes/cache/store';
import { ownerKey } from '../../services/frontend-spec.ts';
import type { ProviderHost } from '../../services/provider.ts';
import { recordOf } from '../../services/record.ts';
import type { AgentFleet } from './agent-fleet.ts';
import type { ClusterView } from '../../services/cluster-view.ts';
import type { Fencing } from './fencing.ts';
import type { GatewayConfigMap } from './gateway-config-map.ts';
import type { GatewayOrphans } from './gateway-orphans.ts';
import type { PortKeeper } from './port-keeper.ts';
import type { ServedPolicies } from './served-policies.ts';

export interface HousekeepingOptions {
  readonly keeper: PortKeeper;
  readonly fleet: AgentFleet;
  readonly view: ClusterView;
  readonly policies?: ServedPolicies | undefined;
  readonly fencing: Fencing;
  readonly configMap?: GatewayConfigMap | undefined;
  readonly orphans: GatewayOrphans;
  readonly clock: Clock;
  readonly log: Log;
  /** The limits of the interval of drift checks. */
  readonly driftEveryMs: number;
  readonly resyncEveryMs: number;
}

/**
 * The work beside the reconciles: follows endpoints and nodes, wakes Services that wait for a gateway,
 * deletes unused ports, and detects drift.
 */
export class GatewayHousekeeping {
  readonly #options: HousekeepingOptions;
  /** The Services that wait for gateways, each with a check whether its wait is over. */
  readonly #waiting = new Map<string, () => boolean>();
  /** Services that were rejected because another Service has the requested address. */
  readonly #refused = new Set<string>();
  readonly #cleaner: BoundedFrequencyRunner;
  #host: ProviderHost | undefined;

  constructor(options: HousekeepingOptions) {
    const { clock, log } = options;
    this.#options = options;
    this.#cleaner = new BoundedFrequencyRunner({
      name: 'clean unused ports',
      run: (signal) => this.#clean(signal),
      minIntervalMs: 100,
      burst: 2,
      maxIntervalMs: 60_000,
      retryMs: 5_000,
      clock,
      log,
    });
  }

  /** Reconciles the Service again when a gateway has answered or failed and the wait is over. */
  waiting(key: string, isOver: () => boolean): void {
    this.#waiting.set(key, isOver);
  }

  /** Called after a change that affects the Service and that no watch reports. */
  requestReconcile(key: string): void {
    this.#host?.enqueue(key);
  }

  /**
   * The Service requests an address of another Service. It is reconciled again when something is released.
   */
  wantsAddress(key: string): void {
    this.#refused.add(key);
  }

  /** Called when addresses or ports may have become free. */
  freed(): void {
    this.#cleaner.request();
    const refused = [...this.#refused];
    this.#refused.clear();
    for (const key of refused) this.#host?.enqueue(key);
  }

  /** Called when a gateway has answered or failed: reconciles the Services that no longer wait. */
  changed(): void {
    this.#cleaner.request();
    this.#options.fencing.request();
    this.showGateways();
    for (const [key, isOver] of this.#waiting) {
      if (!isOver()) continue;
      this.#waiting.delete(key);
      this.#host?.enqueue(key);
    }
  }

  /** Writes the state of the gateways, where `causeway status` reads it. */
  showGateways(): void {
    this.#options.configMap?.show(this.#options.fleet.standings());
  }

  async run(
    host: ProviderHost,
    signal: AbortSignal,
    prepare: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { view, fleet, fencing, configMap } = this.#options;
    this.#host = host;
    await supervise(signal, {
      ...(configMap === undefined ? {} : { configMap: (inner) => configMap.run(inner) }),
      'cluster view': (inner) => view.run(inner),
      gateways: async (inner) => {
        if (configMap !== undefined) await whenSynced([configMap], inner);
        await prepare(inner);
        const stopConfigMap = configMap?.onChange(() => fencing.request());
        const stop = view.onChange(
          (service) => host.enqueue(service),
          () => this.#nodesChanged(host),
        );
        const stopPolicies = this.#options.policies?.follow((service) => host.enqueue(service));
        try {
          const loops = {
            agents: (deepest: AbortSignal) => fleet.run(deepest),
            fencing: (deepest: AbortSignal) => fencing.run(deepest),
            'clean unused ports': (deepest: AbortSignal) => this.#cleaner.loop(deepest),
            drift: (deepest: AbortSignal) => this.#watchDrift(host, deepest),
          };
          await supervise(inner, loops, this.#options.log);
        } finally {
          stop();
          stopPolicies?.();
          stopConfigMap?.();
        }
      },
    });
  }

  #nodesChanged(host: ProviderHost): void {
    const { view, fleet } = this.#options;
    fleet.setNodes(view.nodeAddresses());
    for (const { owner, backends } of host.objects.values()) {
      if (backends.trafficPolicy === 'Local') host.enqueue(ownerKey(owner));
    }
  }

  /** A port is deleted only after every gateway has confirmed a state without it, or is fenced. */
  async #clean(signal: AbortSignal): Promise<void> {
    const { keeper, fencing, fleet, log } = this.#options;
    const unused = keeper.unused();
    const held = keeper.held().filter((port) => !keeper.isOffered(port));
    // An earlier leader with outdated knowledge may have replaced the state that a gateway confirmed.
    if (unused.length + held.length > 0) await fleet.check(signal);
    for (const port of held) if (fencing.mayGo(port.address)) keeper.offer(port);
    for (const port of unused) {
      if (!fencing.mayGo(port.address)) {
        const announcers = fleet.mayAnnounce(port.address);
        log.debug({ address: port.address, announcers }, 'the address is not free yet');
        continue;
      }
      await fencing.letGo(port.address, signal);
      await keeper.retire(port, signal);
      log.info({ address: port.address, port: port.id }, 'deleted an unused port');
    }
  }

  async #watchDrift(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { keeper, fencing, clock, log, driftEveryMs, resyncEveryMs } = this.#options;
    let tookMs = 0;
    while (!signal.aborted) {
      await sleep(clock, pauseAfterResync(tookMs, resyncEveryMs, driftEveryMs), signal);
      const started = clock.monotonic();
      try {
        const isOnHold = (uid: string) => isHeld(host, uid);
        const orphaned = new Set(await keeper.findDrift(advertised(host), signal, isOnHold));
        if (orphaned.size > 0)
          log.warn({ services: orphaned.size }, 'recreated lost ports or floating IPs');
        await this.#options.orphans.check(signal);
        this.#cleaner.request();
        await fencing.check(signal);
      } catch (error) {
        const known = CausewayError.from(error);
        if (signal.aborted) throw known;
        log.warn({ error: known }, 'could not check for drift');
      }
      tookMs = clock.monotonic() - started;
    }
  }
}

/**
 * The pause after a drift check of this duration. The cloud sends no notification of a loss, so checks run as
 * often as is cheap: at most a twentieth of the time, between the two limits.
 */
export function pauseAfterResync(tookMs: number, soonestMs: number, latestMs: number): number {
  return Math.min(latestMs, Math.max(soonestMs, tookMs * 19));
}

/** Whether the Service is on hold because its record is unreadable. */
function isHeld(host: ProviderHost, uid: string): boolean {
  for (const spec of host.objects.values()) {
    if (spec.owner.uid === uid) return recordOf(spec).kind === 'unreadable';
  }
  return false;
}

/** All addresses in the status of any Service. */
function advertised(host: ProviderHost): Set<Address> {
  const addresses = new Set<Address>();
  for (const { published } of host.objects.values()) {
    for (const text of published) {
      const address = tryParseAddress(text);
      if (address !== undefined) addresses.add(address);
    }
  }
  return addresses;
}
