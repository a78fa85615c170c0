import type { Actor } from '../actor.ts';
import { parameter, type Call } from '../http/call.ts';
import type { NeutronApi } from '../neutron/api.ts';
import type { OctaviaApi } from '../octavia/api.ts';
import { createListener, deleteListener, updateListener } from '../octavia/listeners.ts';
import { createPool, deletePool, updatePool } from '../octavia/pools.ts';
import { listenerFields, poolFields } from '../octavia/specs.ts';
import { listenerView, poolView } from './views.ts';
import { entityInUse, inNeutronWords, listViews, readBody, visibleRow } from './wire.ts';

const listenerNames = [
  'name',
  'description',
  'admin_state_up',
  'protocol',
  'protocol_port',
  'connection_limit',
  'loadbalancer_id',
  'default_pool_id',
  'default_tls_container_ref',
  'sni_container_refs',
];

const poolNames = [
  'name',
  'description',
  'admin_state_up',
  'protocol',
  'lb_algorithm',
  'session_persistence',
  'loadbalancer_id',
  'listener_id',
];

export function addListenerRoutes(api: NeutronApi, octavia: OctaviaApi): void {
  const { state } = octavia;
  const base = '/lbaas/listeners';
  const find = (call: Call, actor: Actor) =>
    visibleRow(state.listeners, 'listener', parameter(call, 'id'), actor);
  api.route('GET', base, (call, actor) =>
    listViews(state.listeners.all(), listenerView, 'listeners', call, actor),
  );
  api.route('POST', base, (call, actor) =>
    inNeutronWords(() => {
      const values = readBody(call, 'listener', listenerFields, listenerNames, 'post');
      const id = values['loadbalancer_id'] as string;
      visibleRow(state.loadBalancers, 'loadbalancer', id, actor);
      const row = createListener(octavia, values, actor);
      return { status: 201, body: { listener: listenerView(row) } };
    }),
  );
  api.route('GET', `${base}/:id`, (call, actor) => ({
    status: 200,
    body: { listener: listenerView(find(call, actor)) },
  }));
  api.route('PUT', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      const row = find(call, actor);
      updateListener(
        octavia,
        row,
        readBody(call, 'listener', listenerFields, listenerNames, 'put'),
      );
      return { status: 200, body: { listener: listenerView(row) } };
    }),
  );
  api.route('DELETE', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      deleteListener(octavia, find(call, actor));
      return { status: 204 };
    }),
  );
}

export function addPoolRoutes(api: NeutronApi, octavia: OctaviaApi): void {
  const { state } = octavia;
  const base = '/lbaas/pools';
  const find = (call: Call, actor: Actor) =>
    visibleRow(state.pools, 'pool', parameter(call, 'id'), actor);
  api.route('GET', base, (call, actor) =>
    listViews(state.pools.all(), (row) => poolView(state, row), 'pools', call, actor),
  );
  api.route('POST', base, (call, actor) =>
    inNeutronWords(() => {
      const values = readBody(call, 'pool', poolFields, poolNames, 'post');
      const listenerId = values['listener_id'];
      if (typeof listenerId === 'string') {
        visibleRow(state.listeners, 'listener', listenerId, actor);
      }
      const row = createPool(octavia, values, actor);
      return { status: 201, body: { pool: poolView(state, row) } };
    }),
  );
  api.route('GET', `${base}/:id`, (call, actor) => ({
    status: 200,
    body: { pool: poolView(state, find(call, actor)) },
  }));
  api.route('PUT', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      const row = find(call, actor);
      updatePool(octavia, row, readBody(call, 'pool', poolFields, poolNames, 'put'));
      return { status: 200, body: { pool: poolView(state, row) } };
    }),
  );
  api.route('DELETE', `${base}/:id`, (call, actor) =>
    inNeutronWords(() => {
      const row = find(call, actor);
      const monitor = state.monitorOf(row.id);
      if (monitor !== undefined) throw entityInUse('healthmonitor', monitor.id, 'pool');
      deletePool(octavia, row);
      return { status: 204 };
    }),
  );
}
