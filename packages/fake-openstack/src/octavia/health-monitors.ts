import type { Actor } from '../actor.ts';
import { parameter, type Call } from '../http/call.ts';
import { bodyObject, requireOwner, type OctaviaApi } from './api.ts';
import { readFields } from './fields.ts';
import { insertHealthMonitor } from './insert.ts';
import { listAnswer } from './listing.ts';
import { beginPoolWrite, findPool, requireMutablePool } from './pools.ts';
import { enforceQuota } from './quotas.ts';
import { notFound } from './refusals.ts';
import type { HealthMonitorRow, PoolRow } from './rows.ts';
import { healthMonitorFields } from './specs.ts';
import { healthMonitorView } from './views.ts';

type Values = Readonly<Record<string, unknown>>;

const where = 'health_monitor_.healthmonitor';

export function findHealthMonitor(api: OctaviaApi, id: string, actor: Actor): HealthMonitorRow {
  const row = api.state.healthMonitors.get(id);
  if (row === undefined) throw notFound('Health Monitor', id);
  requireOwner(row, actor);
  return row;
}

export function addHealthMonitorRoutes(api: OctaviaApi): void {
  const { state } = api;
  const find = (call: Call, actor: Actor) => findHealthMonitor(api, parameter(call, 'id'), actor);
  api.route('GET', '/healthmonitors', (call, actor) =>
    listAnswer(
      {
        collection: 'healthmonitors',
        table: state.healthMonitors,
        view: healthMonitorView,
        fields: healthMonitorFields,
      },
      call,
      actor,
      api.parts.maxPage,
    ),
  );
  api.route('POST', '/healthmonitors', (call, actor) => {
    const body = bodyObject(call, 'healthmonitor');
    const values = readFields(healthMonitorFields, body, 'post', where);
    const row = createHealthMonitor(api, values, actor);
    return { status: 201, body: { healthmonitor: healthMonitorView(row) } };
  });
  api.route('GET', '/healthmonitors/:id', (call, actor) => ({
    status: 200,
    body: { healthmonitor: healthMonitorView(find(call, actor)) },
  }));
  api.route('PUT', '/healthmonitors/:id', (call, actor) => {
    const row = find(call, actor);
    const body = bodyObject(call, 'healthmonitor');
    updateHealthMonitor(api, row, readFields(healthMonitorFields, body, 'put', where));
    return { status: 200, body: { healthmonitor: healthMonitorView(row) } };
  });
  api.route('DELETE', '/healthmonitors/:id', (call, actor) => {
    deleteHealthMonitor(api, find(call, actor));
    return { status: 204 };
  });
}

export function createHealthMonitor(
  api: OctaviaApi,
  values: Values,
  actor: Actor,
): HealthMonitorRow {
  const pool = findPool(api, values['pool_id'] as string, actor);
  enforceQuota(api.state, pool.project_id, 'health_monitor');
  requireMutablePool(api, pool);
  const row = insertHealthMonitor(api.state, pool, values);
  beginPoolWrite(api, pool);
  return row;
}

function poolOf(api: OctaviaApi, row: HealthMonitorRow): PoolRow {
  const pool = api.state.pools.get(row.pool_id);
  if (pool === undefined) throw notFound('Pool', row.pool_id);
  return pool;
}

export function updateHealthMonitor(api: OctaviaApi, row: HealthMonitorRow, values: Values): void {
  const pool = poolOf(api, row);
  requireMutablePool(api, pool);
  api.state.healthMonitors.update(row, { ...values, provisioning_status: 'PENDING_UPDATE' });
  beginPoolWrite(api, pool);
}

export function deleteHealthMonitor(api: OctaviaApi, row: HealthMonitorRow): void {
  const pool = poolOf(api, row);
  requireMutablePool(api, pool);
  api.state.healthMonitors.update(row, { provisioning_status: 'PENDING_DELETE' });
  beginPoolWrite(api, pool, () => api.state.healthMonitors.delete(row.id));
}
