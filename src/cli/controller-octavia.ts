import { makeOctaviaProvider } from '../loadbalancer/octavia/make-octavia-provider.ts';
import type { LoadBalancerProvider } from '../loadbalancer/provider.ts';
import type { ControllerSettings } from '../loadbalancer/settings.ts';
import { Cloud } from '../openstack/cloud.ts';
import { loadCloudConfig } from '../openstack/config/load.ts';
import type { ProviderSurroundings } from './controller-providers.ts';
import type { OwnershipOf } from './ownership.ts';

/** The octavia provider as the controller's settings describe it. */
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
