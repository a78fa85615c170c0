import { makeOctaviaProvider } from '../../octavia/make-octavia-provider.ts';
import type { LoadBalancerProvider } from '../../services/provider.ts';
import type { ControllerSettings } from './settings.ts';
import { Cloud } from '@causeway/openstack/cloud';
import { loadCloudConfig } from '@causeway/openstack/config/load';
import type { ProviderSurroundings } from './providers.ts';
import type { OwnershipOf } from './ownership.ts';

/** The octavia provider as configured in the controller's settings. */
export async function octaviaProvider(
  settings: ControllerSettings,
  surroundings: ProviderSurroundings,
  ownershipOf: OwnershipOf,
  signal: AbortSignal,
): Promise<LoadBalancerProvider> {
  const { octavia, driftSeconds, cloud: name } = settings;
  const config = await loadCloudConfig({
    environment: process.env,
    workingDirectory: process.cwd(),
    ...(name === undefined ? {} : { cloud: name }),
  });
  return makeOctaviaProvider(
    {
      ...surroundings,
      session: new Cloud(config, surroundings).session(),
      settings: octavia,
      ...(await ownershipOf('octavia', signal)),
      driftEveryMs: driftSeconds * 1000,
    },
    signal,
  );
}
