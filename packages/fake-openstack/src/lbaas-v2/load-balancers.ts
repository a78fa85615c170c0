import { parameter, type Call } from '../http/call.ts';
import type { Actor } from '../actor.ts';
import type { NeutronApi } from '../neutron/api.ts';
import type { OctaviaApi } from '../octavia/api.ts';
import { createLoadBalancer, deleteLoadBalancer } from '../octavia/load-balancers.ts';
import { immutable } from '../octavia/refusals.ts';
import { loadBalancerFields } from '../octavia/specs.ts';
import { statusTree } from '../octavia/status-tree.ts';
import { loadBalancerView } from './views.ts';
import { entityInUse, inNeutronWords, listViews, readBody, visibleRow } from './wire.ts';

const creatable = [
  'name',
  'description',
  'admin_state_up',
  'provider',
  'vip_address',
  'vip_subnet_id',
];
const changeable = ['name', 'description', 'admin_state_up'];

/** Routes for single load balancers, without a tree and without a cascading deletion. */
export function addLoadBalancerRoutes(api: NeutronApi, octavia: OctaviaApi): void {
  const { state, parts } = octavia;
  const base = '/lbaas/loadbalancers';
  const find = (call: Call, actor: Actor) =>
    visibleRow(state.loadBalancers, 'loadbalancer', parameter(call, 'id'), actor);
  api.route('GET', base, (call, actor) => {
    const view = (row: Parameters<typeof loadBalancerView>[1]) => loadBalancerView(state, row);
    return listViews(state.loadBalancers.all(), view, 'loadbalancers', call, actor);
  });
  api.route('POST', base, (call, actor) =>
    inNeutronWords(() => {
      const values = readBody(call, 'loadbalancer', loadBalancerFields, creatable, 'post');
      const { provider, ...rest } = values;
      const known = provider === 'haproxy' || provider === undefined ? {} : { provider };
      const row = createLoadBalancer(octavia, { ...rest, ...known }, actor);
      return { status: 201, body: { loadbalancer: loadBalancerView(state, row) } };
    }),
  );
  api.route('GET', `${base}/:id`, (call, actor) => ({
    status: 200,
    body: { loadbalancer: loadBalancerView(state, find(call, actor)) },
  }));
  api.route('GET', `${base}/:id/statuses`, (call, actor) => ({
    status: 200,
    body: { statuses: { loadbalancer: statusTree(state, find(call, actor)) } },
  }));
  api.route('PUT', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      const row = find(call, actor);
      const values = readBody(call, 'loadbalancer', loadBalancerFields, changeable, 'put');
      parts.provisioning.requireMutable(row, 'loadbalancer', row.id);
      state.loadBalancers.update(row, values);
      parts.provisioning.begin({ loadBalancer: row, kind: 'update' });
      return { status: 200, body: { loadbalancer: loadBalancerView(state, row) } };
    }),
  );
  api.route('DELETE', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      const row = find(call, actor);
      if (row.provisioning_status.startsWith('PENDING')) throw immutable('loadbalancer', row.id);
      const [listener] = state.listenersOf(row.id);
      if (listener !== undefined) throw entityInUse('listener', listener.id, 'loadbalancer');
      const [pool] = state.poolsOf(row.id);
      if (pool !== undefined) throw entityInUse('pool', pool.id, 'loadbalancer');
      deleteLoadBalancer(octavia, row, false);
      return { status: 204 };
    }),
  );
}
