import { CausewayError } from '@causeway/base/error/causeway-error';
import type { EndpointInterface } from '../config/cloud-config.ts';
import type { ServiceName } from '../error.ts';
import type { Fields } from '../fields.ts';

export interface CatalogEntry {
  readonly type: string;
  readonly interface: string;
  readonly region: string;
  readonly url: string;
}

export type Catalog = readonly CatalogEntry[];

export function parseCatalog(services: readonly Fields[]): Catalog {
  return services.flatMap((service) =>
    service.objects('endpoints').map((endpoint) => ({
      type: service.text('type'),
      interface: endpoint.text('interface'),
      region: endpoint.optionalString('region_id') ?? endpoint.text('region'),
      url: endpoint.text('url'),
    })),
  );
}

/** Names of each service in catalogs; the first is the official one. */
const typeNames: Readonly<Record<ServiceName, readonly string[]>> = {
  identity: ['identity', 'identityv3'],
  network: ['network'],
  'load-balancer': ['load-balancer', 'loadbalancer', 'octavia'],
};

export interface EndpointChoice {
  readonly interface: EndpointInterface;
  readonly region: string | undefined;
}

/**
 * The endpoint of the service, or undefined if the catalog has none. Several regions without a configured one
 * are an error: a guess could select another data center.
 */
export function chooseEndpoint(
  catalog: Catalog,
  service: ServiceName,
  choice: EndpointChoice,
): string | undefined {
  const candidates = catalog.filter(
    (entry) =>
      typeNames[service].includes(entry.type) &&
      entry.interface === choice.interface &&
      (choice.region === undefined || entry.region === choice.region),
  );
  const regions = [...new Set(candidates.map((entry) => entry.region))];
  if (regions.length > 1) {
    throw new CausewayError('invalid', `the cloud has ${service} in ${regions.length} regions`, {
      hint: `Select one of them: ${regions.sort().join(', ')} (region_name, OS_REGION_NAME).`,
    });
  }
  return candidates[0]?.url;
}
