import type { Address } from '@causeway/base/address/address';
import { parseFrontendKey } from '../../protocol/frontend.ts';
import type { GatewayStanding } from './gateway-standing.ts';
import type { DesiredState } from './desired-state.ts';
import type { Rejections } from './rejections.ts';

/** Services with a problem. At most `mostServices` are named. */
export interface NamedServices {
  readonly total: number;
  readonly services: readonly string[];
}

/** The state of one gateway, with the Services that it does not serve as desired. */
export interface GatewayReport extends GatewayStanding {
  readonly rejected: {
    readonly total: number;
    readonly services: readonly { readonly service: string; readonly message: string }[];
  };
  /** The Services whose last change the gateway has not confirmed, and for how long it has confirmed nothing. */
  readonly unconfirmed: (NamedServices & { readonly forMs: number }) | undefined;
}

export interface FleetReport {
  readonly gateways: readonly GatewayReport[];
  /** The Services whose backends are all unhealthy. */
  readonly unhealthy: NamedServices;
}

/** The report is stored in a ConfigMap, which has a limited size. */
const mostServices = 500;
const longestMessage = 200;

/** The Services of the rejected frontends, each with the first rejection. */
export function rejectedServices(
  rejections: Rejections,
  desired: Pick<DesiredState, 'serviceOf'>,
): GatewayReport['rejected'] {
  const found = new Map<string, string>();
  for (const [key, messages] of rejections.all()) {
    const service = desired.serviceOf(key);
    if (service === undefined || found.has(service)) continue;
    const { protocol, port } = parseFrontendKey(key);
    const message = `${protocol}/${port}: ${messages.join('; ')}`;
    found.set(service, message.slice(0, longestMessage));
  }
  const services = [...found].slice(0, mostServices);
  return {
    total: found.size,
    services: services.map(([service, message]) => ({ service, message })),
  };
}

export function nameServices(services: ReadonlySet<string>): NamedServices {
  return { total: services.size, services: [...services].slice(0, mostServices) };
}

/** The Services whose backends are all unhealthy. */
export function unhealthyServices(
  desired: Pick<DesiredState, 'servicesOnlyAt'>,
  unhealthy: ReadonlySet<Address>,
): NamedServices {
  return nameServices(unhealthy.size === 0 ? new Set() : desired.servicesOnlyAt(unhealthy));
}
