import type { Actor } from '../actor.ts';
import { parameter, type Call } from '../http/call.ts';
import { bodyObject, requireOwner, type OctaviaApi } from './api.ts';
import { readFields } from './fields.ts';
import { checkCidrs, checkPoolProtocol, insertListener, withDefaultTimeouts } from './insert.ts';
import { listAnswer } from './listing.ts';
import { checkOvnListener } from './ovn.ts';
import { enforceQuota } from './quotas.ts';
import { immutable, notFound } from './refusals.ts';
import type { ListenerRow, LoadBalancerRow } from './rows.ts';
import { listenerFields } from './specs.ts';
import { listenerView } from './views.ts';

/** The load balancer of a new child. */
export function parentOfNewChild(api: OctaviaApi, id: string, actor: Actor): LoadBalancerRow {
  const row = api.state.loadBalancers.get(id);
  if (row === undefined) {
    if (api.state.deleted.has(id)) throw immutable('Load Balancer', id);
    throw notFound('Load Balancer', id);
  }
  requireOwner(row, actor);
  return row;
}

export function loadBalancerOf(
  api: OctaviaApi,
  child: { loadbalancer_id: string },
): LoadBalancerRow {
  const row = api.state.loadBalancers.get(child.loadbalancer_id);
  if (row === undefined) throw notFound('Load Balancer', child.loadbalancer_id);
  return row;
}

export function findListener(api: OctaviaApi, id: string, actor: Actor): ListenerRow {
  const row = api.state.listeners.get(id);
  if (row === undefined) throw notFound('Listener', id);
  requireOwner(row, actor);
  return row;
}

export function addListenerRoutes(api: OctaviaApi): void {
  const { state } = api;
  const find = (call: Call, actor: Actor) => findListener(api, parameter(call, 'id'), actor);
  api.route('GET', '/listeners', (call, actor) =>
    listAnswer(
      {
        collection: 'listeners',
        table: state.listeners,
        view: listenerView,
        fields: listenerFields,
        filters: { load_balancer_id: (row) => row.loadbalancer_id },
      },
      call,
      actor,
      api.parts.maxPage,
    ),
  );
  api.route('POST', '/listeners', (call, actor) => {
    const body = bodyObject(call, 'listener');
    const values = readFields(listenerFields, body, 'post', 'listener_.listener');
    const listener = createListener(api, values, actor);
    return { status: 201, body: { listener: listenerView(listener) } };
  });
  api.route('GET', '/listeners/:id', (call, actor) => ({
    status: 200,
    body: { listener: listenerView(find(call, actor)) },
  }));
  api.route('PUT', '/listeners/:id', (call, actor) => {
    const row = find(call, actor);
    const body = bodyObject(call, 'listener');
    const values = readFields(listenerFields, body, 'put', 'listener_.listener');
    updateListener(api, row, values);
    return { status: 200, body: { listener: listenerView(row) } };
  });
  api.route('DELETE', '/listeners/:id', (call, actor) => {
    deleteListener(api, find(call, actor));
    return { status: 204 };
  });
}

export function createListener(
  api: OctaviaApi,
  values: Readonly<Record<string, unknown>>,
  actor: Actor,
): ListenerRow {
  const { state, parts } = api;
  const loadBalancer = parentOfNewChild(api, values['loadbalancer_id'] as string, actor);
  enforceQuota(state, loadBalancer.project_id, 'listener');
  checkDefaultPool(api, values['default_pool_id'], values['protocol'] as string);
  parts.provisioning.requireMutable(loadBalancer, 'Load Balancer', loadBalancer.id);
  const listener = insertListener(state, loadBalancer, values);
  parts.provisioning.begin({ loadBalancer, kind: 'update' });
  return listener;
}

function checkDefaultPool(api: OctaviaApi, poolId: unknown, protocol: string): void {
  if (typeof poolId !== 'string') return;
  const pool = api.state.pools.get(poolId);
  if (pool === undefined) throw notFound('Pool', poolId);
  checkPoolProtocol(protocol, pool.protocol);
}

export function updateListener(
  api: OctaviaApi,
  row: ListenerRow,
  values: Readonly<Record<string, unknown>>,
): void {
  const { state, parts } = api;
  const loadBalancer = loadBalancerOf(api, row);
  checkDefaultPool(api, values['default_pool_id'], row.protocol);
  checkCidrs(values['allowed_cidrs'], loadBalancer);
  checkOvnListener(loadBalancer.provider, values);
  parts.provisioning.requireMutable(loadBalancer, 'Load Balancer', loadBalancer.id);
  parts.provisioning.release(row.id);
  state.listeners.update(row, {
    ...values,
    ...withDefaultTimeouts(values),
    provisioning_status: 'PENDING_UPDATE',
  });
  parts.provisioning.begin({ loadBalancer, kind: 'update' });
}

export function deleteListener(api: OctaviaApi, row: ListenerRow): void {
  const { state, parts } = api;
  const loadBalancer = loadBalancerOf(api, row);
  parts.provisioning.requireMutable(loadBalancer, 'Load Balancer', loadBalancer.id);
  state.listeners.update(row, { provisioning_status: 'PENDING_DELETE' });
  parts.provisioning.begin({
    loadBalancer,
    kind: 'update',
    finish: () => state.listeners.delete(row.id),
  });
}
