import { newHexId } from '../ids.ts';

export interface CatalogService {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly endpoints: readonly CatalogEndpoint[];
}

export interface CatalogEndpoint {
  readonly id: string;
  readonly interface: string;
  readonly region: string;
  readonly region_id: string;
  readonly url: string;
}

/** The endpoints of the services, equal for all projects. */
export class Catalog {
  readonly services: CatalogService[] = [];
  readonly region: string;

  constructor(region: string) {
    this.region = region;
  }

  add(type: string, name: string, url: string): void {
    this.services.push({
      id: newHexId(),
      type,
      name,
      endpoints: ['public', 'internal', 'admin'].map((interfaceName) => ({
        id: newHexId(),
        interface: interfaceName,
        region: this.region,
        region_id: this.region,
        url,
      })),
    });
  }
}
