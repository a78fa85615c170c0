import type { Actor } from '../actor.ts';
import { parameter } from '../http/call.ts';
import { bodyObject, type OctaviaApi } from './api.ts';
import { invalidField, overQuota, policyRefusal } from './refusals.ts';
import { show } from './fields.ts';
import {
  octaviaQuotaNames,
  type OctaviaQuotaName,
  type OctaviaQuotas,
  type OctaviaState,
} from './state.ts';

const labels: Readonly<Record<OctaviaQuotaName, string>> = {
  load_balancer: 'Load Balancer',
  listener: 'Listener',
  pool: 'Pool',
  member: 'Member',
  health_monitor: 'Health Monitor',
};

export function enforceQuota(
  state: OctaviaState,
  projectId: string,
  name: OctaviaQuotaName,
  amount = 1,
): void {
  const limit = (state.quotas.get(projectId) ?? state.defaultQuotas)[name];
  if (limit < 0) return;
  const tables = {
    load_balancer: state.loadBalancers,
    listener: state.listeners,
    pool: state.pools,
    member: state.members,
    health_monitor: state.healthMonitors,
  };
  if (tables[name].count('project_id', projectId) + amount > limit) throw overQuota(labels[name]);
}

export function addQuotaRoutes(api: OctaviaApi): void {
  const { state } = api;
  const shown = (quotas: OctaviaQuotas) => ({ ...quotas, l7policy: -1, l7rule: -1 });
  const mayRead = (actor: Actor, projectId: string) => {
    if (!actor.isAdmin && actor.projectId !== projectId) throw policyRefusal();
  };
  api.route('GET', '/quotas', (_call, actor) => {
    const quotas = [...state.quotas]
      .filter(([projectId]) => actor.isAdmin || projectId === actor.projectId)
      .map(([projectId, values]) => ({ ...shown(values), project_id: projectId }));
    return { status: 200, body: { quotas, quotas_links: [] } };
  });
  api.route('GET', '/quotas/:project', (call, actor) => {
    const projectId = parameter(call, 'project');
    mayRead(actor, projectId);
    const quota = shown(state.quotas.get(projectId) ?? state.defaultQuotas);
    return { status: 200, body: { quota } };
  });
  api.route('PUT', '/quotas/:project', (call, actor) => {
    if (!actor.isAdmin) throw policyRefusal();
    const projectId = parameter(call, 'project');
    const wanted = bodyObject(call, 'quota');
    const quotas = { ...(state.quotas.get(projectId) ?? state.defaultQuotas) };
    for (const name of octaviaQuotaNames) {
      const value = wanted[name];
      if (value === undefined) continue;
      if (typeof value !== 'number') throw invalidField(name, show(value), 'Not an integer');
      quotas[name] = value;
    }
    state.quotas.set(projectId, quotas);
    return { status: 202, body: { quota: shown(quotas) } };
  });
  api.route('DELETE', '/quotas/:project', (call, actor) => {
    if (!actor.isAdmin) throw policyRefusal();
    state.quotas.delete(parameter(call, 'project'));
    return { status: 202 };
  });
}
