import { newUuid } from '../ids.ts';
import type { OctaviaApi } from './api.ts';
import { notFound } from './refusals.ts';
import { parameter } from '../http/call.ts';
import { pick } from './listing.ts';

export interface Flavor {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly flavor_profile_id: string;
}

export interface AvailabilityZone {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly availability_zone_profile_id: string;
}

/** Providers, flavors and availability zones that a user can choose. */
export interface Offerings {
  /** Descriptions, keyed by name. */
  readonly providers: ReadonlyMap<string, string>;
  readonly defaultProvider: string;
  readonly flavors: readonly Flavor[];
  readonly availabilityZones: readonly AvailabilityZone[];
}

export function defaultOfferings(): Offerings {
  return {
    providers: new Map([
      ['amphora', 'The Octavia Amphora driver.'],
      ['octavia', 'Deprecated alias of the amphora driver.'],
    ]),
    defaultProvider: 'amphora',
    flavors: [
      {
        id: newUuid(),
        name: 'single',
        description: 'One amphora.',
        enabled: true,
        flavor_profile_id: newUuid(),
      },
    ],
    availabilityZones: [
      {
        name: 'zone-a',
        description: '',
        enabled: true,
        availability_zone_profile_id: newUuid(),
      },
    ],
  };
}

export function addOfferingRoutes(api: OctaviaApi): void {
  const { providers, flavors, availabilityZones } = api.parts.offerings;
  api.route('GET', '/providers', () => ({
    status: 200,
    body: { providers: [...providers].map(([name, description]) => ({ name, description })) },
  }));
  api.route('GET', '/flavors', (call) => {
    const name = call.query.get('name');
    const found = flavors.filter((flavor) => name === null || flavor.name === name);
    const views = found.map((flavor) => pick({ ...flavor }, call.query.getAll('fields')));
    return { status: 200, body: { flavors: views, flavors_links: [] } };
  });
  api.route('GET', '/flavors/:id', (call) => {
    const id = parameter(call, 'id');
    const flavor = flavors.find((candidate) => candidate.id === id);
    if (flavor === undefined) throw notFound('Flavor', id);
    return { status: 200, body: { flavor } };
  });
  api.route('GET', '/availabilityzones', () => ({
    status: 200,
    body: { availability_zones: availabilityZones, availability_zones_links: [] },
  }));
}
