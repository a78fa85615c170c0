import type { Clock } from '@causeway/base/time/clock';
import { systemClock } from '@causeway/base/time/clock';
import { quotaNames, type Quotas } from './neutron/state.ts';
import { defaultOfferings, type Offerings } from './octavia/offerings.ts';
import { octaviaQuotaNames, type OctaviaQuotas } from './octavia/state.ts';

export interface EmbeddedOptions {
  readonly clock?: Clock;
  readonly region?: string;
  /** Ports to listen on. Default: free ports. */
  readonly ports?: {
    readonly identity: number;
    readonly network: number;
    readonly loadBalancer: number;
  };
  readonly tokenLifetimeMs?: number;
  /** Duration of PENDING_* after each write to a load balancer. */
  readonly provisioningDelayMs?: number;
  /** Maximum page size of every list. */
  readonly pageSize?: number;
  /** -1 means no limit, which is the default of every project. */
  readonly neutronQuotas?: Partial<Quotas>;
  readonly octaviaQuotas?: Partial<OctaviaQuotas>;
  readonly maxAddressPairs?: number;
  /** The announced minor version of Octavia's API. */
  readonly octaviaMinorVersion?: number;
  readonly offerings?: Partial<Offerings>;
  /**
   * Octavia as a separate service, or LBaaS v2 on Neutron's endpoint as in Mitaka. With LBaaS v2, the catalog
   * doesn't contain Octavia.
   */
  readonly loadBalancing?: 'octavia' | 'lbaas-v2';
  /**
   * Simulates a defect of Octavia 11.0.0: objects created in the same request as their load balancer stay in
   * PENDING_CREATE although the load balancer becomes ACTIVE.
   */
  readonly populatedCreateDefect?: boolean;
}

export interface Settings {
  readonly clock: Clock;
  readonly region: string;
  readonly ports: { identity: number; network: number; loadBalancer: number };
  readonly tokenLifetimeMs: number;
  readonly provisioningDelayMs: number;
  readonly pageSize: number | undefined;
  readonly neutronQuotas: Quotas;
  readonly octaviaQuotas: OctaviaQuotas;
  readonly maxAddressPairs: number;
  readonly octaviaMinorVersion: number;
  readonly offerings: Offerings;
  readonly loadBalancing: 'octavia' | 'lbaas-v2';
  readonly populatedCreateDefect: boolean;
}

export function readSettings(options: EmbeddedOptions): Settings {
  const unlimited = <Name extends string>(names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, -1])) as Record<Name, number>;
  return {
    clock: systemClock,
    region: 'RegionOne',
    ports: { identity: 0, network: 0, loadBalancer: 0 },
    tokenLifetimeMs: 3_600_000,
    provisioningDelayMs: 20,
    pageSize: undefined,
    maxAddressPairs: 10,
    octaviaMinorVersion: 26,
    loadBalancing: 'octavia',
    populatedCreateDefect: false,
    ...options,
    neutronQuotas: { ...unlimited(quotaNames), ...options.neutronQuotas },
    octaviaQuotas: { ...unlimited(octaviaQuotaNames), ...options.octaviaQuotas },
    offerings: { ...defaultOfferings(), ...options.offerings },
  };
}
