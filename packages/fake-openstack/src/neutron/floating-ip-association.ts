import type { Refusal } from '../http/refusal.ts';
import { badResource, conflict, notFound } from './refusals.ts';
import type { FloatingIpRow, PortRow } from './rows.ts';
import type { NeutronState } from './state.ts';

export interface Association {
  readonly port_id: string;
  readonly fixed_ip_address: string;
  readonly router_id: string;
}

/**
 * Finds the router between the external network and the address of the Neutron port. Throws if there is none.
 */
export function associate(
  state: NeutronState,
  floating: { id: string; address: string; networkId: string },
  port: PortRow,
  wantedAddress: string | undefined,
): Association {
  const fixed =
    wantedAddress === undefined
      ? port.fixed_ips.find(({ ip_address }) => !ip_address.includes(':'))
      : port.fixed_ips.find(({ ip_address }) => ip_address === wantedAddress);
  if (fixed === undefined) {
    throw wantedAddress === undefined
      ? badResource(
          'floatingip',
          `Cannot add floating IP to port ${port.id} that has no fixed IPv4 addresses.`,
        )
      : badResource('floatingip', `Port ${port.id} does not have fixed ip ${wantedAddress}.`);
  }
  const routerId = routerBetween(state, floating.networkId, fixed.subnet_id);
  if (routerId === undefined) {
    throw notFound(
      'ExternalGatewayForFloatingIPNotFound',
      `External network ${floating.networkId} is not reachable from subnet ${fixed.subnet_id}.  Therefore, cannot associate Port ${port.id} with a Floating IP.`,
    );
  }
  const other = state.floatingIps
    .by('port_id', port.id)
    .find(
      (row) =>
        row.id !== floating.id &&
        row.fixed_ip_address === fixed.ip_address &&
        row.floating_network_id === floating.networkId,
    );
  if (other !== undefined) {
    throw conflict(
      'FloatingIPPortAlreadyAssociated',
      `Cannot associate floating IP ${floating.address} (${floating.id}) with port ${port.id} using fixed IP ${fixed.ip_address}, as that fixed IP already has a floating IP on external network ${floating.networkId}.`,
    );
  }
  return { port_id: port.id, fixed_ip_address: fixed.ip_address, router_id: routerId };
}

export function dissociatePort(state: NeutronState, portId: string): void {
  for (const row of state.floatingIps.by('port_id', portId)) {
    state.floatingIps.update(row, {
      port_id: null,
      fixed_ip_address: null,
      router_id: null,
      ...state.touched(row),
    });
  }
}

/** Floating IPs that reach their Neutron ports through this interface. */
export function floatingIpsBehind(
  state: NeutronState,
  routerId: string,
  subnetId: string,
): FloatingIpRow[] {
  return state.ports
    .by('subnet_id', subnetId)
    .flatMap((port) => state.floatingIps.by('port_id', port.id))
    .filter((row) => row.router_id === routerId);
}

function routerBetween(
  state: NeutronState,
  externalNetworkId: string,
  subnetId: string,
): string | undefined {
  for (const port of state.ports.by('subnet_id', subnetId)) {
    if (port.device_owner !== 'network:router_interface') continue;
    const router = state.routers.get(port.device_id);
    const gateway = state.ports.get(router?.gateway_port_id ?? '');
    if (gateway?.network_id === externalNetworkId) return router?.id;
  }
  return undefined;
}

export function needsPort(): Refusal {
  return badResource('floatingip', 'fixed_ip_address cannot be specified without a port_id.');
}
