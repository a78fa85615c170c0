import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { GuardReporter } from '../../services/guard-register.ts';
import { providerForServices, type ServiceProvider } from '../../services/service-provider.ts';
import type { ControllerSettings } from './settings.ts';
import type { LeaseGuard } from '@causeway/base/work/lease-guard';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { gatewayProvider } from './gateway.ts';
import { octaviaProvider } from './octavia.ts';
import { poolProvider } from './pool.ts';
import type { OwnershipOf } from './ownership.ts';

/** Dependencies of every provider. */
export interface ProviderSurroundings {
  readonly client: KubeClient;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** The lease guard, if any: nothing is written without the lease, neither in the cluster nor outside. */
  readonly leaseGuard?: LeaseGuard | undefined;
  /** Takes the reports of guards. All providers share one. */
  readonly guards?: GuardReporter | undefined;
}

/** The providers that the settings enable. A new provider is one line here and a file beside this one. */
export async function makeProviders(
  settings: ControllerSettings,
  surroundings: ProviderSurroundings,
  ownershipOf: OwnershipOf,
  signal: AbortSignal,
): Promise<ServiceProvider[]> {
  const providers: ServiceProvider[] = [];
  if (settings.gateway.enabled) {
    const gateway = await gatewayProvider(settings, surroundings, ownershipOf, signal);
    providers.push(providerForServices(gateway));
  }
  if (settings.octavia.enabled) {
    const octavia = await octaviaProvider(settings, surroundings, ownershipOf, signal);
    providers.push(providerForServices(octavia));
  }
  if (settings.pool.enabled) providers.push(await poolProvider(settings, surroundings));
  return providers;
}
