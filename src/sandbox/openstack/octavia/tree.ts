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

/** What is to be made below a load balancer in the same request. */
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

/** Reads the tree completely before anything is made. Pools are told apart by their names. */
export function readTree(listeners: unknown, pools: unknown): Tree {
  const found = new Map<string, TreePool>();
  const addPool = (body: JsonObject) => {
    const pool = readPool(body);
    if (found.has(pool.name)) {
      throw validationFailure(
        'Pool names must be unique when creating a fully populated loadbalancer.',
      );
    }
    found.set(pool.name, pool);
  };
  for (const body of objects(pools)) addPool(body);
  const readListeners = objects(listeners).map((body) => {
    const values = readFields(listenerTreeFields, body, 'post', 'load_balancer.loadbalancer');
    const pool = values['default_pool'];
    if (!isObject(pool)) return { values, defaultPool: undefined };
    const name = poolName(pool);
    // A pool with nothing but a name refers to one that stands elsewhere in the request.
    if (Object.keys(pool).length > 1) addPool(pool);
    return { values, defaultPool: name };
  });
  for (const { defaultPool } of readListeners) {
    if (defaultPool !== undefined && !found.has(defaultPool)) {
      throw validationFailure(`Unknown pool ${defaultPool}.`);
    }
  }
  return { listeners: readListeners, pools: [...found.values()] };
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function poolName(body: JsonObject): string {
  const { name } = body as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') {
    throw validationFailure('Pools must be named when creating a fully populated loadbalancer.');
  }
  return name;
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
