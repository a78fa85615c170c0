import type { Log } from '@causeway/base/observability/log';
import { supervise } from '@causeway/base/work/supervisor';
import { whenSynced } from '@causeway/kubernetes/cache/store';
import type { ClusterView } from '../../services/cluster-view.ts';
import type { ProviderHost } from '../../services/provider.ts';
import type { AgentFleet } from './fleet/agent-fleet.ts';
import type { Fencing } from './fencing/fencing.ts';
import type { GatewayConfigMap } from './gateway-config-map.ts';
import type { GatewayLoop } from './gateway-loop.ts';
import type { GatewayRestore } from './gateway-restore.ts';
import type { PortCleaner } from './cleanup/port-cleaner.ts';
import type { PortComparison } from './cleanup/port-comparison.ts';
import type { ReasonSink } from './reasons/reason-queue.ts';
import type { ServedPolicies } from './policies/served-policies.ts';

export interface GatewayRuntimeOptions {
  readonly reasons: ReasonSink;
  readonly loop: GatewayLoop;
  readonly restore: GatewayRestore;
  readonly view: ClusterView;
  readonly configMap?: GatewayConfigMap | undefined;
  readonly fleet: Pick<AgentFleet, 'run'>;
  readonly fencing: Pick<Fencing, 'run'>;
  readonly cleaner: PortCleaner;
  readonly comparison: PortComparison;
  readonly policies?: ServedPolicies | undefined;
  readonly log: Log;
}

/** Restores the state before the restart, and runs all loops of the gateway provider. */
export class GatewayRuntime {
  readonly #options: GatewayRuntimeOptions;
  readonly #synced = Promise.withResolvers<void>();

  constructor(options: GatewayRuntimeOptions) {
    this.#options = options;
  }

  /** Resolves when the state before the restart is restored. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Runs until the signal fires. */
  async run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { loop, view, configMap, restore } = this.#options;
    await supervise(signal, {
      ...(configMap === undefined ? {} : { configMap: (inner) => configMap.run(inner) }),
      'cluster view': (inner) => view.run(inner),
      // Also runs during the restoration, so that `causeway status` shows the gateways early.
      reasons: (inner) => loop.run(host, inner),
      gateways: async (inner) => {
        if (configMap !== undefined) await whenSynced([configMap], inner);
        await restore.run(host, inner);
        this.#synced.resolve();
        const stop = this.#follow();
        try {
          await this.#runRestored(host, inner);
        } finally {
          stop();
        }
      },
    });
  }

  async #runRestored(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { fleet, fencing, cleaner, comparison, log } = this.#options;
    const loops = {
      agents: (inner: AbortSignal) => fleet.run(inner),
      fencing: (inner: AbortSignal) => fencing.run(inner),
      'clean unused ports': (inner: AbortSignal) => cleaner.run(inner),
      drift: (inner: AbortSignal) => comparison.run(host, inner),
    };
    await supervise(signal, loops, log);
  }

  /** Publishes changes of the watched objects. */
  #follow(): () => void {
    const { reasons, view, configMap, policies } = this.#options;
    const stops = [
      configMap?.onChange(() => reasons.add({ kind: 'fence-requests-changed' })),
      view.onChange(
        (service) => reasons.add({ kind: 'endpoints-changed', service }),
        () => reasons.add({ kind: 'nodes-changed' }),
      ),
      policies?.follow(reasons),
    ];
    return () => {
      for (const stop of stops) stop?.();
    };
  }
}
