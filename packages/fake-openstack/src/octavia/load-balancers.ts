import type { Actor } from '../actor.ts';
import { parameter, type Answer, type Call } from '../http/call.ts';
import { newUuid } from '../ids.ts';
import { bodyObject, requireOwner, type OctaviaApi } from './api.ts';
import { readFields } from './fields.ts';
import { listAnswer, pick } from './listing.ts';
import { checkOvnLoadBalancer } from './ovn.ts';
import { enforceQuota } from './quotas.ts';
import { conflict, invalid, notFound, policyRefusal, validationFailure } from './refusals.ts';
import type { LoadBalancerRow } from './rows.ts';
import { loadBalancerFields } from './specs.ts';
import { statusTree } from './status-tree.ts';
import { insertTree, readTree, type Tree } from './tree.ts';
import { releaseVip, takeVip } from './vip.ts';
import { loadBalancerTreeView, loadBalancerView } from './views.ts';

type Values = Readonly<Record<string, unknown>>;

export function findLoadBalancer(api: OctaviaApi, id: string, actor: Actor): LoadBalancerRow {
  const row = api.state.loadBalancers.get(id);
  if (row === undefined) throw notFound('Load Balancer', id);
  requireOwner(row, actor);
  return row;
}

export function addLoadBalancerRoutes(api: OctaviaApi): void {
  const { state } = api;
  const find = (call: Call, actor: Actor) => findLoadBalancer(api, parameter(call, 'id'), actor);
  const show = (row: LoadBalancerRow): Answer => ({
    status: 200,
    body: { loadbalancer: loadBalancerView(state, row) },
  });
  api.route('GET', '/loadbalancers', (call, actor) =>
    listAnswer(
      {
        collection: 'loadbalancers',
        table: state.loadBalancers,
        view: (row) => loadBalancerView(state, row),
        fields: loadBalancerFields,
      },
      call,
      actor,
      api.parts.maxPage,
    ),
  );
  api.route('POST', '/loadbalancers', (call, actor) => {
    const body = bodyObject(call, 'loadbalancer');
    const where = 'load_balancer.loadbalancer';
    const values = readFields(loadBalancerFields, body, 'post', where);
    const row = createLoadBalancer(api, values, actor);
    return { status: 201, body: { loadbalancer: loadBalancerTreeView(state, row) } };
  });
  api.route('GET', '/loadbalancers/:id', (call, actor) => {
    const view = loadBalancerView(state, find(call, actor));
    return { status: 200, body: { loadbalancer: pick(view, call.query.getAll('fields')) } };
  });
  api.route('PUT', '/loadbalancers/:id', (call, actor) => {
    const row = find(call, actor);
    const body = bodyObject(call, 'loadbalancer');
    const values = readFields(loadBalancerFields, body, 'put', 'load_balancer.loadbalancer');
    requireState(row, ['ACTIVE']);
    state.loadBalancers.update(row, values);
    api.parts.provisioning.begin({ loadBalancer: row, kind: 'update' });
    return show(row);
  });
  api.route('DELETE', '/loadbalancers/:id', (call, actor) => {
    deleteLoadBalancer(api, find(call, actor), call.query.get('cascade')?.toLowerCase() === 'true');
    return { status: 204 };
  });
  addStatusRoutes(api, find);
}

function addStatusRoutes(
  api: OctaviaApi,
  find: (call: Call, actor: Actor) => LoadBalancerRow,
): void {
  const { state } = api;
  for (const name of ['status', 'statuses']) {
    api.route('GET', `/loadbalancers/:id/${name}`, (call, actor) => ({
      status: 200,
      body: { statuses: { loadbalancer: statusTree(state, find(call, actor)) } },
    }));
  }
  api.route('GET', '/loadbalancers/:id/stats', (call, actor) => {
    find(call, actor);
    return { status: 200, body: { stats: noTraffic } };
  });
  api.route('PUT', '/loadbalancers/:id/failover', (call, actor) => {
    const row = find(call, actor);
    if (!actor.isAdmin) throw policyRefusal();
    requireState(row, ['ACTIVE', 'ERROR']);
    api.parts.provisioning.begin({ loadBalancer: row, kind: 'update' });
    return { status: 202 };
  });
}

const noTraffic = {
  bytes_in: 0,
  bytes_out: 0,
  active_connections: 0,
  total_connections: 0,
  request_errors: 0,
};

function requireState(row: LoadBalancerRow, allowed: readonly string[]): void {
  if (allowed.includes(row.provisioning_status)) return;
  throw conflict(`Invalid state ${row.provisioning_status} of loadbalancer resource ${row.id}`);
}

/** Creates a load balancer and its requested tree. */
export function createLoadBalancer(api: OctaviaApi, values: Values, actor: Actor): LoadBalancerRow {
  const { state, parts } = api;
  const projectId = (values['project_id'] ?? values['tenant_id'] ?? actor.projectId) as string;
  if (projectId !== actor.projectId && !actor.isAdmin) throw policyRefusal();
  const provider = readProvider(api, values);
  const tree = readTree(values['listeners'], values['pools']);
  enforceTreeQuota(api, projectId, tree);
  const id = newUuid();
  const owner = {
    loadBalancerId: id,
    projectId,
    serviceProjectId: parts.serviceProjectId,
    provider,
  };
  const vip = takeVip(parts.neutron, owner, values, actor);
  const row = state.loadBalancers.insert({
    ...state.newRow(projectId, values),
    id,
    description: (values['description'] as string | null | undefined) ?? '',
    provider,
    flavor_id: (values['flavor_id'] as string | null | undefined) ?? null,
    availability_zone: (values['availability_zone'] as string | null | undefined) ?? null,
    vip_qos_policy_id: null,
    ...vip,
  });
  try {
    insertTree(state, row, tree);
  } catch (error) {
    // Octavia creates the Neutron port before it validates the tree, and doesn't delete the port after a
    // failure.
    removeLoadBalancer(api, { ...row, ownsPort: false });
    throw error;
  }
  parts.provisioning.begin({ loadBalancer: row, kind: 'create' });
  return row;
}

function readProvider(api: OctaviaApi, values: Values): string {
  const { providers, defaultProvider, flavors, availabilityZones } = api.parts.offerings;
  const provider = (values['provider'] as string | null | undefined) ?? defaultProvider;
  if (!providers.has(provider)) throw invalid(`Provider '${provider}' is not enabled.`);
  const flavor = values['flavor_id'];
  if (typeof flavor === 'string' && !flavors.some(({ id }) => id === flavor)) {
    throw invalid(`The selected flavor is not allowed in this deployment: ${flavor}`);
  }
  const zone = values['availability_zone'];
  if (typeof zone === 'string' && !availabilityZones.some(({ name }) => name === zone)) {
    throw validationFailure('Invalid availability zone.');
  }
  checkOvnLoadBalancer(provider, values);
  return provider === 'octavia' ? 'amphora' : provider;
}

function enforceTreeQuota(api: OctaviaApi, projectId: string, tree: Tree): void {
  const { state } = api;
  enforceQuota(state, projectId, 'load_balancer');
  const members = tree.pools.reduce((sum, pool) => sum + pool.members.length, 0);
  const monitors = tree.pools.filter((pool) => pool.healthMonitor !== undefined).length;
  if (tree.listeners.length > 0) enforceQuota(state, projectId, 'listener', tree.listeners.length);
  if (tree.pools.length > 0) enforceQuota(state, projectId, 'pool', tree.pools.length);
  if (members > 0) enforceQuota(state, projectId, 'member', members);
  if (monitors > 0) enforceQuota(state, projectId, 'health_monitor', monitors);
}

export function deleteLoadBalancer(
  api: OctaviaApi,
  row: LoadBalancerRow,
  isCascade: boolean,
): void {
  const { state } = api;
  requireState(row, ['ACTIVE', 'ERROR']);
  const listeners = state.listenersOf(row.id);
  const pools = state.poolsOf(row.id);
  if (!isCascade && listeners.length + pools.length > 0) {
    throw validationFailure(`Cannot delete Load Balancer ${row.id} - it has children`);
  }
  api.parts.provisioning.begin({
    loadBalancer: row,
    kind: 'delete',
    finish: () => removeLoadBalancer(api, row),
  });
}

function removeLoadBalancer(api: OctaviaApi, row: LoadBalancerRow): void {
  const { state, parts } = api;
  for (const listener of state.listenersOf(row.id)) state.listeners.delete(listener.id);
  for (const pool of state.poolsOf(row.id)) state.deletePool(pool.id);
  releaseVip(parts.neutron, row);
  state.loadBalancers.delete(row.id);
  state.deleted.add(row.id);
}
