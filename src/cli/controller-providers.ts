import type { KubeClient } from '../kube/client.ts';
import type { LoadBalancerProvider } from '../loadbalancer/provider.ts';
import type { ControllerSettings } from '../loadbalancer/settings.ts';
import type { WriteFence } from '../runtime/write-fence.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { gatewayProvider } from './controller-gateway.ts';
import { octaviaProvider } from './controller-octavia.ts';
import { poolProvider } from './controller-pool.ts';
import type { OwnershipOf } from './ownership.ts';

/** What every provider is given. */
export interface ProviderSurroundings {
  readonly client: KubeClient;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** The lease, where there is one: nothing is written without it, inside the cluster and outside. */
  readonly fence?: WriteFence | undefined;
}

/** The providers that the settings enable. A new one is a line here and a file beside this one. */
export async function makeProviders(
  settings: ControllerSettings,
  surroundings: ProviderSurroundings,
  ownershipOf: OwnershipOf,
  signal: AbortSignal,
): Promise<LoadBalancerProvider[]> {
  const providers: LoadBalancerProvider[] = [];
  if (settings.gateway.enabled) {
    providers.push(await gatewayProvider(settings, surroundings, ownershipOf, signal));
  }
  if (settings.octavia.enabled) {
    providers.push(await octaviaProvider(settings, surroundings, ownershipOf, signal));
  }
  if (settings.pool.enabled) providers.push(await poolProvider(settings, surroundings));
  return providers;
}
