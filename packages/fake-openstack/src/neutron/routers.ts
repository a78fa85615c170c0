import { parseAddress } from '@causeway/base/address/address';
import type { Actor } from '../actor.ts';
import { isObject, parameter, type Call } from '../http/call.ts';
import type { NeutronApi } from './api.ts';
import { anything, boolean, orNull, object, string, type Attributes } from './attributes.ts';
import { floatingIpsBehind } from './floating-ip-association.ts';
import { networkNotFound } from './networks.ts';
import { deletePort, insertPort, portNotFound } from './ports.ts';
import { badResource, conflict, notFound } from './refusals.ts';
import { commonView, isOwn, ownRows, type Resource } from './resource.ts';
import type { PortRow, RouterRow, SubnetRow } from './rows.ts';
import type { NeutronState } from './state.ts';
import { subnetNotFound } from './subnets.ts';

const attributes: Attributes = {
  name: { read: string, in: 'both' },
  description: { read: string, in: 'both' },
  admin_state_up: { read: boolean, in: 'both' },
  external_gateway_info: { read: orNull(object), in: 'both' },
  availability_zone_hints: { read: anything, in: 'post' },
  routes: { read: anything, in: 'put' },
};

const routerNotFound = (id: string) =>
  notFound('RouterNotFound', `Router ${id} could not be found`);

export function routerResource(state: NeutronState): Resource<RouterRow> {
  const table = state.routers;
  return {
    path: 'routers',
    collection: 'routers',
    member: 'router',
    quota: 'router',
    table,
    attributes,
    isVisible: isOwn,
    visible: (actor) => ownRows(table, actor),
    view: (row, actor) => routerView(state, row, actor),
    notFound: routerNotFound,
    create: (values, _actor, projectId) => {
      const router = table.insert({
        ...state.newRow(projectId, values),
        admin_state_up: (values['admin_state_up'] as boolean | undefined) ?? true,
        gateway_port_id: null,
        enable_snat: true,
      });
      try {
        setGateway(state, router, values['external_gateway_info']);
      } catch (error) {
        table.delete(router.id);
        throw error;
      }
      return router;
    },
    update: (row, { external_gateway_info: gateway, ...values }) => {
      if (gateway !== undefined) setGateway(state, row, gateway);
      table.update(row, values);
    },
    remove: (row) => {
      const attached = interfacesOf(state, row.id);
      if (attached.length > 0) {
        const ids = attached.map((port) => port.id).join(',');
        throw conflict('RouterInUse', `Router ${row.id} has ports still attached: ${ids}`);
      }
      setGateway(state, row, null);
      table.delete(row.id);
    },
  };
}

function interfacesOf(state: NeutronState, routerId: string): PortRow[] {
  return state.ports
    .by('device_id', routerId)
    .filter((port) => port.device_owner === 'network:router_interface');
}

function setGateway(state: NeutronState, router: RouterRow, wanted: unknown): void {
  if (wanted === undefined) return;
  const old = state.ports.get(router.gateway_port_id ?? '');
  if (!isObject(wanted) || Object.keys(wanted).length === 0) {
    if (old !== undefined) deletePort(state, old);
    state.routers.update(router, { gateway_port_id: null });
    return;
  }
  const networkId = String(wanted['network_id']);
  const network = state.networks.get(networkId);
  if (network === undefined) throw networkNotFound(networkId);
  if (!network.external) {
    throw badResource('router', `Network ${networkId} is not an external network.`);
  }
  if (old?.network_id === networkId) return;
  const values = { device_owner: 'network:router_gateway', device_id: router.id };
  const port = insertPort(state, network, values, '');
  if (old !== undefined) deletePort(state, old);
  state.routers.update(router, { gateway_port_id: port.id });
}

export function addRouterInterfaceRoutes(api: NeutronApi): void {
  const { state } = api;
  const find = (call: Call, actor: Actor): RouterRow => {
    const id = parameter(call, 'id');
    const router = state.routers.get(id);
    if (router === undefined || !isOwn(router, actor)) throw routerNotFound(id);
    return router;
  };
  api.route('PUT', '/routers/:id/add_router_interface', (call, actor) => {
    const router = find(call, actor);
    const { subnetId, portId } = readInterface(call);
    const port =
      portId === undefined
        ? addRouterInterface(state, router, subnetId ?? '')
        : attachPort(state, router, portId);
    return { status: 200, body: interfaceView(router, port) };
  });
  api.route('PUT', '/routers/:id/remove_router_interface', (call, actor) => {
    const router = find(call, actor);
    const { subnetId, portId } = readInterface(call);
    const port = findInterface(state, router, subnetId, portId);
    const subnet = port.fixed_ips[0]?.subnet_id ?? '';
    if (floatingIpsBehind(state, router.id, subnet).length > 0) {
      throw conflict(
        'RouterInterfaceInUseByFloatingIP',
        `Router interface for subnet ${subnet} on router ${router.id} cannot be deleted, as it is required by one or more floating IPs.`,
      );
    }
    deletePort(state, port);
    return { status: 200, body: interfaceView(router, port) };
  });
}

function readInterface(call: Call): { subnetId: string | undefined; portId: string | undefined } {
  const body = call.body.kind === 'json' && isObject(call.body.value) ? call.body.value : {};
  const { subnet_id, port_id } = body as Record<string, unknown>;
  if (typeof subnet_id !== 'string' && typeof port_id !== 'string') {
    throw badResource('router', 'Either subnet_id or port_id must be specified.');
  }
  return {
    subnetId: typeof subnet_id === 'string' ? subnet_id : undefined,
    portId: typeof port_id === 'string' ? port_id : undefined,
  };
}

function refuseSecondInterface(state: NeutronState, router: RouterRow, subnetId: string): void {
  const isThere = interfacesOf(state, router.id).some((port) =>
    port.fixed_ips.some((fixed) => fixed.subnet_id === subnetId),
  );
  if (isThere) {
    throw badResource('router', `Router already has a port on subnet ${subnetId}.`);
  }
}

export function addRouterInterface(
  state: NeutronState,
  router: RouterRow,
  subnetId: string,
): PortRow {
  const subnet: SubnetRow | undefined = state.subnets.get(subnetId);
  const network = state.networks.get(subnet?.network_id ?? '');
  if (subnet === undefined || network === undefined) throw subnetNotFound(subnetId);
  refuseSecondInterface(state, router, subnetId);
  if (subnet.gateway_ip === null) {
    throw badResource('router', 'Subnet for router interface must have a gateway IP.');
  }
  return insertPort(
    state,
    network,
    {
      device_owner: 'network:router_interface',
      device_id: router.id,
      fixed_ips: [{ subnetId, address: parseAddress(subnet.gateway_ip) }],
    },
    router.project_id,
  );
}

function attachPort(state: NeutronState, router: RouterRow, portId: string): PortRow {
  const port = state.ports.get(portId);
  if (port === undefined) throw portNotFound(portId);
  for (const { subnet_id } of port.fixed_ips) refuseSecondInterface(state, router, subnet_id);
  if (port.device_id !== '') {
    throw conflict('PortInUse', `Unable to complete operation on port ${portId}: in use.`);
  }
  return state.ports.update(port, {
    device_owner: 'network:router_interface',
    device_id: router.id,
    security_groups: [],
    port_security_enabled: false,
  });
}

function findInterface(
  state: NeutronState,
  router: RouterRow,
  subnetId: string | undefined,
  portId: string | undefined,
): PortRow {
  if (subnetId !== undefined && state.subnets.get(subnetId) === undefined) {
    throw subnetNotFound(subnetId);
  }
  const port = interfacesOf(state, router.id).find(
    (candidate) =>
      (portId === undefined || candidate.id === portId) &&
      (subnetId === undefined || candidate.fixed_ips.some((fixed) => fixed.subnet_id === subnetId)),
  );
  if (port !== undefined) return port;
  if (subnetId === undefined) {
    throw notFound(
      'RouterInterfaceNotFound',
      `Router ${router.id} does not have an interface with id ${portId ?? ''}`,
    );
  }
  throw notFound(
    'RouterInterfaceNotFoundForSubnet',
    `Router ${router.id} has no interface on subnet ${subnetId}`,
  );
}

function interfaceView(router: RouterRow, port: PortRow): object {
  const subnets = port.fixed_ips.map((fixed) => fixed.subnet_id);
  return {
    id: router.id,
    tenant_id: router.project_id,
    port_id: port.id,
    network_id: port.network_id,
    subnet_id: subnets[0],
    subnet_ids: subnets,
  };
}

function routerView(state: NeutronState, row: RouterRow, actor: Actor): Record<string, unknown> {
  const gateway = state.ports.get(row.gateway_port_id ?? '');
  return {
    ...commonView(row),
    admin_state_up: row.admin_state_up,
    status: 'ACTIVE',
    external_gateway_info:
      gateway === undefined
        ? null
        : {
            network_id: gateway.network_id,
            external_fixed_ips: gateway.fixed_ips,
            enable_snat: row.enable_snat,
          },
    availability_zones: [],
    availability_zone_hints: [],
    routes: [],
    flavor_id: null,
    ...(actor.isAdmin ? { distributed: false, ha: false } : {}),
  };
}
