import type { Actor } from '../actor.ts';
import { parameter, type Call } from '../http/call.ts';
import type { NeutronApi } from '../neutron/api.ts';
import { badRequest } from '../neutron/refusals.ts';
import type { OctaviaApi } from '../octavia/api.ts';
import {
  createHealthMonitor,
  deleteHealthMonitor,
  updateHealthMonitor,
} from '../octavia/health-monitors.ts';
import { createMember, deleteMember, updateMember } from '../octavia/members.ts';
import { healthMonitorFields, memberFields } from '../octavia/specs.ts';
import { healthMonitorView, memberView } from './views.ts';
import { entityNotFound, inNeutronWords, listViews, readBody, visibleRow } from './wire.ts';

const memberNames = ['name', 'admin_state_up', 'address', 'protocol_port', 'weight', 'subnet_id'];

const monitorNames = [
  'name',
  'admin_state_up',
  'pool_id',
  'type',
  'delay',
  'timeout',
  'max_retries',
  'http_method',
  'url_path',
  'expected_codes',
];

/** Routes for single members. The API has no batch request. */
export function addMemberRoutes(api: NeutronApi, octavia: OctaviaApi): void {
  const { state } = octavia;
  const base = '/lbaas/pools/:poolId/members';
  const findPool = (call: Call, actor: Actor) =>
    visibleRow(state.pools, 'pool', parameter(call, 'poolId'), actor);
  const find = (call: Call, actor: Actor) => {
    const pool = findPool(call, actor);
    const member = visibleRow(state.members, 'member', parameter(call, 'id'), actor);
    if (member.pool_id !== pool.id) throw entityNotFound('member', member.id);
    return { pool, member };
  };
  api.route('GET', base, (call, actor) =>
    listViews(state.membersOf(findPool(call, actor).id), memberView, 'members', call, actor),
  );
  api.route('POST', base, (call, actor) =>
    inNeutronWords(() => {
      const pool = findPool(call, actor);
      const values = readBody(call, 'member', memberFields, memberNames, 'post');
      if (typeof values['subnet_id'] !== 'string') {
        throw badRequest("Failed to parse request. Required attribute 'subnet_id' not specified");
      }
      const row = createMember(octavia, pool, values);
      return { status: 201, body: { member: memberView(row) } };
    }),
  );
  api.route('GET', `${base}/:id`, (call, actor) => ({
    status: 200,
    body: { member: memberView(find(call, actor).member) },
  }));
  api.route('PUT', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      const { pool, member } = find(call, actor);
      const values = readBody(call, 'member', memberFields, memberNames, 'put');
      updateMember(octavia, pool, member, values);
      return { status: 200, body: { member: memberView(member) } };
    }),
  );
  api.route('DELETE', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      const { pool, member } = find(call, actor);
      deleteMember(octavia, pool, member);
      return { status: 204 };
    }),
  );
}

export function addHealthMonitorRoutes(api: NeutronApi, octavia: OctaviaApi): void {
  const { state } = octavia;
  const base = '/lbaas/healthmonitors';
  const find = (call: Call, actor: Actor) =>
    visibleRow(state.healthMonitors, 'healthmonitor', parameter(call, 'id'), actor);
  const read = (call: Call, mode: 'post' | 'put') =>
    readBody(call, 'healthmonitor', healthMonitorFields, monitorNames, mode);
  api.route('GET', base, (call, actor) =>
    listViews(state.healthMonitors.all(), healthMonitorView, 'healthmonitors', call, actor),
  );
  api.route('POST', base, (call, actor) =>
    inNeutronWords(() => {
      const row = createHealthMonitor(octavia, read(call, 'post'), actor);
      return { status: 201, body: { healthmonitor: healthMonitorView(row) } };
    }),
  );
  api.route('GET', `${base}/:id`, (call, actor) => ({
    status: 200,
    body: { healthmonitor: healthMonitorView(find(call, actor)) },
  }));
  api.route('PUT', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      const row = find(call, actor);
      updateHealthMonitor(octavia, row, read(call, 'put'));
      return { status: 200, body: { healthmonitor: healthMonitorView(row) } };
    }),
  );
  api.route('DELETE', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      deleteHealthMonitor(octavia, find(call, actor));
      return { status: 204 };
    }),
  );
}
