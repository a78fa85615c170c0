import type { Actor } from '../actor.ts';
import { isObject, parameter, type Answer, type Call } from '../http/call.ts';
import { bodyObject, requireOwner, type OctaviaApi } from './api.ts';
import { readFields } from './fields.ts';
import { insertMember } from './insert.ts';
import { listAnswer } from './listing.ts';
import { beginPoolWrite, requireMutablePool } from './pools.ts';
import { enforceQuota } from './quotas.ts';
import { invalid, notFound, poolOfPathNotFound } from './refusals.ts';
import type { MemberRow, PoolRow } from './rows.ts';
import { memberFields } from './specs.ts';
import { memberView } from './views.ts';

type Values = Readonly<Record<string, unknown>>;

const where = 'member_.member';

export function addMemberRoutes(api: OctaviaApi): void {
  const { state } = api;
  const base = '/pools/:poolId/members';
  const findPool = (call: Call, actor: Actor): PoolRow => {
    const id = parameter(call, 'poolId');
    const pool = state.pools.get(id);
    if (pool === undefined) throw poolOfPathNotFound(id);
    requireOwner(pool, actor);
    return pool;
  };
  const find = (call: Call, actor: Actor): { pool: PoolRow; member: MemberRow } => {
    const id = parameter(call, 'id');
    const member = state.members.get(id);
    if (member === undefined) throw notFound('Member', id);
    if (member.pool_id !== parameter(call, 'poolId')) throw poolOfPathNotFound('None');
    return { pool: findPool(call, actor), member };
  };
  api.route('GET', base, (call, actor) =>
    listAnswer(
      {
        collection: 'members',
        table: state.members,
        view: memberView,
        fields: memberFields,
        rows: state.membersOf(findPool(call, actor).id),
      },
      call,
      actor,
      api.parts.maxPage,
    ),
  );
  api.route('POST', base, (call, actor) => {
    const pool = findPool(call, actor);
    const values = readFields(memberFields, bodyObject(call, 'member'), 'post', where);
    const member = createMember(api, pool, values);
    return { status: 201, body: { member: memberView(member) } };
  });
  api.route('PUT', base, (call, actor) => replaceMembers(api, findPool(call, actor), call));
  api.route('GET', `${base}/:id`, (call, actor) => ({
    status: 200,
    body: { member: memberView(find(call, actor).member) },
  }));
  api.route('PUT', `${base}/:id`, (call, actor) => {
    const { pool, member } = find(call, actor);
    const values = readFields(memberFields, bodyObject(call, 'member'), 'put', where);
    updateMember(api, pool, member, values);
    return { status: 200, body: { member: memberView(member) } };
  });
  api.route('DELETE', `${base}/:id`, (call, actor) => {
    const { pool, member } = find(call, actor);
    deleteMember(api, pool, member);
    return { status: 204 };
  });
}

function checkSubnet(api: OctaviaApi, values: Values): void {
  const id = values['subnet_id'];
  if (typeof id === 'string' && api.parts.neutron.subnets.get(id) === undefined) {
    throw invalid(`Subnet ${id} not found.`);
  }
}

export function createMember(api: OctaviaApi, pool: PoolRow, values: Values): MemberRow {
  checkSubnet(api, values);
  enforceQuota(api.state, pool.project_id, 'member');
  requireMutablePool(api, pool);
  const member = insertMember(api.state, pool, values);
  beginPoolWrite(api, pool);
  return member;
}

export function updateMember(
  api: OctaviaApi,
  pool: PoolRow,
  member: MemberRow,
  values: Values,
): void {
  requireMutablePool(api, pool);
  api.state.members.update(member, { ...values, provisioning_status: 'PENDING_UPDATE' });
  beginPoolWrite(api, pool);
}

export function deleteMember(api: OctaviaApi, pool: PoolRow, member: MemberRow): void {
  requireMutablePool(api, pool);
  api.state.members.update(member, { provisioning_status: 'PENDING_DELETE' });
  beginPoolWrite(api, pool, () => api.state.members.delete(member.id));
}

/**
 * Replaces the members of a pool. Address and port identify a member. Unchanged members become PENDING_UPDATE
 * too.
 */
function replaceMembers(api: OctaviaApi, pool: PoolRow, call: Call): Answer {
  const { state } = api;
  const body = call.body.kind === 'json' && isObject(call.body.value) ? call.body.value : {};
  if (!Array.isArray(body['members'])) throw invalid('Missing argument: "members"');
  const wanted = body['members']
    .filter(isObject)
    .map((member) => readFields(memberFields, member, 'post', 'members_.members'));
  for (const values of wanted) checkSubnet(api, values);
  const key = (values: Values) => `${String(values['address'])} ${String(values['protocol_port'])}`;
  const existing = new Map(
    state.membersOf(pool.id).map((row) => [`${row.address} ${row.protocol_port}`, row]),
  );
  const fresh = wanted.filter((values) => !existing.has(key(values)));
  if (fresh.length > 0) enforceQuota(state, pool.project_id, 'member', fresh.length);
  requireMutablePool(api, pool);
  for (const values of wanted) {
    const same = existing.get(key(values));
    if (same === undefined) continue;
    const { address: _address, protocol_port: _port, subnet_id: _subnet, ...change } = values;
    const status = { provisioning_status: 'PENDING_UPDATE' as const };
    state.members.update(same, { weight: 1, ...change, ...status });
  }
  for (const values of fresh) insertMember(state, pool, values);
  const isAdditive = call.query.get('additive_only')?.toLowerCase() === 'true';
  const kept = new Set(wanted.map(key));
  const gone = isAdditive ? [] : [...existing].filter(([name]) => !kept.has(name));
  for (const [, row] of gone) state.members.update(row, { provisioning_status: 'PENDING_DELETE' });
  beginPoolWrite(api, pool, () => {
    for (const [, row] of gone) state.members.delete(row.id);
  });
  return { status: 202 };
}
