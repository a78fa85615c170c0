import type { Actor } from '../actor.ts';
import { parameter } from '../http/call.ts';
import { requestObjects, type NeutronApi } from './api.ts';
import { show } from './attributes.ts';
import { badRequest, conflict, disallowed } from './refusals.ts';
import { quotaNames, type NeutronState, type QuotaName, type Quotas } from './state.ts';

export function quotasOf(state: NeutronState, projectId: string): Quotas {
  return state.quotas.get(projectId) ?? state.defaultQuotas;
}

/** Rejects a request that would exceed the quota. -1 means no limit. */
export function enforceQuota(
  state: NeutronState,
  projectId: string,
  name: QuotaName,
  amount: number,
): void {
  const limit = quotasOf(state, projectId)[name];
  if (limit < 0 || usage(state, projectId, name) + amount <= limit) return;
  throw conflict('OverQuota', `Quota exceeded for resources: ['${name}'].`);
}

function usage(state: NeutronState, projectId: string, name: QuotaName): number {
  const tables = {
    network: state.networks,
    subnet: state.subnets,
    port: state.ports,
    router: state.routers,
    floatingip: state.floatingIps,
    security_group: state.securityGroups,
    security_group_rule: state.securityGroupRules,
  };
  return tables[name].count('project_id', projectId);
}

export function addQuotaRoutes(api: NeutronApi): void {
  const { state } = api;
  const shown = (quotas: Quotas) => ({ ...quotas, subnetpool: -1, rbac_policy: 10 });
  const mayRead = (actor: Actor, projectId: string) => {
    if (!actor.isAdmin && actor.projectId !== projectId) throw disallowed('rule:get_quota');
  };
  api.route('GET', '/quotas', (_call, actor) => {
    if (!actor.isAdmin) throw disallowed('rule:get_quota');
    const quotas = [...state.quotas].map(([projectId, values]) => ({
      ...shown(values),
      project_id: projectId,
      tenant_id: projectId,
    }));
    return { status: 200, body: { quotas } };
  });
  api.route('GET', '/quotas/:project', (call, actor) => {
    const projectId = parameter(call, 'project');
    if (projectId === 'tenant' || projectId === 'project') {
      return { status: 200, body: { [projectId]: { tenant_id: actor.projectId } } };
    }
    mayRead(actor, projectId);
    return { status: 200, body: { quota: shown(quotasOf(state, projectId)) } };
  });
  api.route('GET', '/quotas/:project/default', (call, actor) => {
    mayRead(actor, parameter(call, 'project'));
    return { status: 200, body: { quota: shown(state.defaultQuotas) } };
  });
  api.route('GET', '/quotas/:project/details', (call, actor) => {
    const projectId = parameter(call, 'project');
    mayRead(actor, projectId);
    const limits = quotasOf(state, projectId);
    const details = quotaNames.map((name) => [
      name,
      { limit: limits[name], used: usage(state, projectId, name), reserved: 0 },
    ]);
    return { status: 200, body: { quota: Object.fromEntries(details) as object } };
  });
  api.route('PUT', '/quotas/:project', (call, actor) => {
    if (!actor.isAdmin) throw disallowed('rule:update_quota');
    const projectId = parameter(call, 'project');
    const [wanted = {}] = requestObjects(call, 'quota', 'quotas').objects;
    const quotas = { ...quotasOf(state, projectId) };
    for (const name of quotaNames) {
      const value = wanted[name];
      if (value === undefined) continue;
      if (typeof value !== 'number' || !Number.isInteger(value) || value < -1) {
        throw badRequest(`Invalid input for ${name}. Reason: '${show(value)}' is not a limit.`);
      }
      quotas[name] = value;
    }
    state.quotas.set(projectId, quotas);
    return { status: 200, body: { quota: shown(quotas) } };
  });
  api.route('DELETE', '/quotas/:project', (call, actor) => {
    if (!actor.isAdmin) throw disallowed('rule:delete_quota');
    state.quotas.delete(parameter(call, 'project'));
    return { status: 204 };
  });
}
