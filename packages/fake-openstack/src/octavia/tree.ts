import { isObject, type JsonObject } from '../http/call.ts';
import { readFields } from './fields.ts';
import {
  checkPoolProtocol,
  insertHealthMonitor,
  insertListener,
  insertMember,
  insertPool,
} from './insert.ts';
import { validationFailure } from './refusals.ts';
import type { LoadBalancerRow, PoolRow } from './rows.ts';
import {
  healthMonitorTreeFields,
  listenerTreeFields,
  memberFields,
  poolTreeFields,
} from './specs.ts';
import type { OctaviaState } from './state.ts';

/** Objects to create below a load balancer in the same request. */
export interface Tree {
  readonly listeners: readonly TreeListener[];
  readonly pools: readonly TreePool[];
}

interface TreeListener {
  readonly values: Readonly<Record<string, unknown>>;
  /** The name of one of the pools. */
  readonly defaultPool: string | undefined;
}

interface TreePool {
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly members: readonly Readonly<Record<string, unknown>>[];
  readonly healthMonitor: Readonly<Record<string, unknown>> | undefined;
}

/** Parses the tree before any object is created. Pools are identified by their names. */
export function readTree(listeners: unknown, pools: unknown): Tree {
  const found = objects(pools).map(readPool);
  const readListeners = objects(listeners).map((body) => {
    const values = readFields(listenerTreeFields, body, 'post', 'load_balancer.loadbalancer');
    const pool = values['default_pool'];
    if (!isObject(pool)) return { values, defaultPool: undefined };
    // A pool with only a name refers to another pool in the request.
    if (Object.keys(pool).some((key) => key !== 'name')) found.push(readPool(pool));
    return { values, defaultPool: poolName(pool) };
  });
  return { listeners: readListeners, pools: found };
}

function checkNames({ listeners, pools }: Tree): void {
  if (pools.some(({ name }) => name === '')) {
    throw validationFailure('Pools must be named when creating a fully populated loadbalancer.');
  }
  const names = new Set(pools.map(({ name }) => name));
  if (names.size !== pools.length) {
    throw validationFailure(
      'Pool names must be unique when creating a fully populated loadbalancer.',
    );
  }
  for (const { defaultPool } of listeners) {
    if (defaultPool === undefined || names.has(defaultPool)) continue;
    throw validationFailure(`Unknown pool ${defaultPool}.`);
  }
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function poolName(body: JsonObject): string {
  const { name } = body as Record<string, unknown>;
  return typeof name === 'string' ? name : '';
}

function readPool(body: JsonObject): TreePool {
  const name = poolName(body);
  const where = 'load_balancer.loadbalancer';
  const values = readFields(poolTreeFields, body, 'post', where);
  const monitor = values['healthmonitor'];
  return {
    name,
    values,
    members: objects(values['members']).map((member) =>
      readFields(memberFields, member, 'post', where),
    ),
    healthMonitor: isObject(monitor)
      ? readFields(healthMonitorTreeFields, monitor, 'post', where)
      : undefined,
  };
}

export function insertTree(state: OctaviaState, loadBalancer: LoadBalancerRow, tree: Tree): void {
  checkNames(tree);
  const byName = new Map<string, PoolRow>();
  for (const { name, values, members, healthMonitor } of tree.pools) {
    const pool = insertPool(state, loadBalancer, values);
    byName.set(name, pool);
    for (const member of members) insertMember(state, pool, member);
    if (healthMonitor !== undefined) insertHealthMonitor(state, pool, healthMonitor);
  }
  for (const { values, defaultPool } of tree.listeners) {
    const pool = defaultPool === undefined ? undefined : byName.get(defaultPool);
    if (pool !== undefined) checkPoolProtocol(values['protocol'] as string, pool.protocol);
    insertListener(state, loadBalancer, { ...values, default_pool_id: pool?.id ?? null });
  }
}
