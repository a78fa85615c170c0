import type { Actor } from '../actor.ts';
import { parameter, type Call } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { bodyObject, requireOwner, type OctaviaApi } from './api.ts';
import { readFields } from './fields.ts';
import { checkPoolProtocol, insertPool, readPersistence } from './insert.ts';
import { listAnswer } from './listing.ts';
import { loadBalancerOf, parentOfNewChild } from './listeners.ts';
import { checkOvnPool } from './ovn.ts';
import { enforceQuota } from './quotas.ts';
import { conflict, notFound, validationFailure } from './refusals.ts';
import type { ListenerRow, PoolRow } from './rows.ts';
import { poolFields } from './specs.ts';
import { poolView } from './views.ts';

type Values = Readonly<Record<string, unknown>>;

export function findPool(api: OctaviaApi, id: string, actor: Actor): PoolRow {
  const row = api.state.pools.get(id);
  if (row === undefined) throw notFound('Pool', id);
  requireOwner(row, actor);
  return row;
}

export function addPoolRoutes(api: OctaviaApi): void {
  const { state } = api;
  const find = (call: Call, actor: Actor) => findPool(api, parameter(call, 'id'), actor);
  api.route('GET', '/pools', (call, actor) =>
    listAnswer(
      {
        collection: 'pools',
        table: state.pools,
        view: (row) => poolView(state, row),
        fields: poolFields,
      },
      call,
      actor,
      api.parts.maxPage,
    ),
  );
  api.route('POST', '/pools', (call, actor) => {
    const values = readFields(poolFields, bodyObject(call, 'pool'), 'post', 'pool_.pool');
    const pool = createPool(api, values, actor);
    return { status: 201, body: { pool: poolView(state, pool) } };
  });
  api.route('GET', '/pools/:id', (call, actor) => ({
    status: 200,
    body: { pool: poolView(state, find(call, actor)) },
  }));
  api.route('PUT', '/pools/:id', (call, actor) => {
    const row = find(call, actor);
    const values = readFields(poolFields, bodyObject(call, 'pool'), 'put', 'pool_.pool');
    updatePool(api, row, values);
    return { status: 200, body: { pool: poolView(state, row) } };
  });
  api.route('DELETE', '/pools/:id', (call, actor) => {
    deletePool(api, find(call, actor));
    return { status: 204 };
  });
}

export function createPool(api: OctaviaApi, values: Values, actor: Actor): PoolRow {
  const { state, parts } = api;
  const listener = parentListener(api, values);
  const loadBalancerId = listener?.loadbalancer_id ?? values['loadbalancer_id'];
  if (typeof loadBalancerId !== 'string') {
    throw validationFailure('Must provide at least one of: loadbalancer_id, listener_id');
  }
  const loadBalancer = parentOfNewChild(api, loadBalancerId, actor);
  enforceQuota(state, loadBalancer.project_id, 'pool');
  if (listener !== undefined) {
    if (listener.default_pool_id !== null) {
      throw conflict('This listener already has a default pool');
    }
    checkPoolProtocol(listener.protocol, values['protocol'] as string);
  }
  parts.provisioning.requireMutable(loadBalancer, 'Load Balancer', loadBalancer.id);
  const pool = insertPool(state, loadBalancer, values);
  if (listener !== undefined) {
    state.listeners.update(listener, {
      default_pool_id: pool.id,
      provisioning_status: 'PENDING_UPDATE',
    });
  }
  parts.provisioning.begin({ loadBalancer, kind: 'update' });
  return pool;
}

function parentListener(api: OctaviaApi, values: Values): ListenerRow | undefined {
  const id = values['listener_id'];
  if (typeof id !== 'string') return undefined;
  const listener = api.state.listeners.get(id);
  if (listener === undefined) {
    // The real Octavia fails here instead of answering that the listener does not exist.
    throw new Refusal(500, "'NoneType' object has no attribute 'load_balancer_id'");
  }
  return listener;
}

export function updatePool(api: OctaviaApi, row: PoolRow, values: Values): void {
  const { state, parts } = api;
  const loadBalancer = loadBalancerOf(api, row);
  checkOvnPool(loadBalancer.provider, values);
  const { session_persistence: persistence, ...rest } = values;
  const change =
    persistence === undefined ? {} : { session_persistence: readPersistence(persistence) };
  parts.provisioning.requireMutable(loadBalancer, 'Load Balancer', loadBalancer.id);
  state.pools.update(row, { ...rest, ...change, provisioning_status: 'PENDING_UPDATE' });
  parts.provisioning.begin({ loadBalancer, kind: 'update' });
}

export function deletePool(api: OctaviaApi, row: PoolRow): void {
  const { state, parts } = api;
  const loadBalancer = loadBalancerOf(api, row);
  parts.provisioning.requireMutable(loadBalancer, 'Load Balancer', loadBalancer.id);
  state.pools.update(row, { provisioning_status: 'PENDING_DELETE' });
  parts.provisioning.begin({
    loadBalancer,
    kind: 'update',
    finish: () => state.deletePool(row.id),
  });
}

/** Begins a write below a pool. The pool, its listeners and the load balancer become pending together. */
export function beginPoolWrite(api: OctaviaApi, pool: PoolRow, finish?: () => void): void {
  const { state, parts } = api;
  const loadBalancer = loadBalancerOf(api, pool);
  state.pools.update(pool, { provisioning_status: 'PENDING_UPDATE' });
  for (const listener of state.listenersWith(pool.id)) {
    state.listeners.update(listener, { provisioning_status: 'PENDING_UPDATE' });
  }
  parts.provisioning.begin({
    loadBalancer,
    kind: 'update',
    ...(finish === undefined ? {} : { finish }),
  });
}

/** For a write below a pool, the rejection names the pool. The status of the pool is checked too. */
export function requireMutablePool(api: OctaviaApi, pool: PoolRow): void {
  const loadBalancer = loadBalancerOf(api, pool);
  api.parts.provisioning.requireMutable(loadBalancer, 'Pool', pool.id);
  api.parts.provisioning.requireMutable(
    { ...loadBalancer, provisioning_status: pool.provisioning_status },
    'Pool',
    pool.id,
  );
}
