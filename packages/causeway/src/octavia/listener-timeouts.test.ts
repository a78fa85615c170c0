import { expect, test } from 'vitest';
import {
  askedTimeouts,
  timeoutChange,
  timeoutsFrom,
  timeoutsSet,
  withoutTimeoutsSet,
} from './listener-timeouts.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';

test('finds a requested timeout at each place of the spec', () => {
  const spec = { timeout_client_data: 1, options: { timeout_tcp_inspect: 4 } };
  expect(askedTimeouts(spec)).toEqual({ timeout_client_data: 1, timeout_tcp_inspect: 4 });
  expect(timeoutsFrom(askedTimeouts(spec))).toEqual({ clientData: 1, tcpInspect: 4 });
});

test.each([
  ['as wanted', { clientData: 1 }, { clientData: 1, memberData: 9 }, {}, undefined],
  ['another value', { clientData: 2 }, { clientData: 1 }, {}, { clientData: 2 }],
  ['own and removed', {}, { clientData: 1 }, { clientData: 1 }, { clientData: null }],
  ['own, changed by another program since', {}, { clientData: 7 }, { clientData: 1 }, undefined],
  ['foreign', {}, { clientData: 1 }, {}, undefined],
])('%s', (_, wanted, present, set, change) => {
  expect(timeoutChange(wanted, present, set)).toEqual(change);
});

const listener = {
  id: 'l1',
  name: 'ns/a:TCP:80',
  loadbalancer_id: 'b1',
  port: 80,
  project_id: 'p',
  protocol: 'TCP',
  timeout_client_data: 1,
};
const klb = (version?: number): KuryrLoadBalancer => ({
  status: { ...(version === undefined ? {} : { version }), listeners: [listener] },
});

test("counts only own timeouts as set: Kuryr's status has Kuryr's configuration", () => {
  expect(timeoutsSet(klb(1))).toEqual(new Map([['l1', { clientData: 1 }]]));
  expect(timeoutsSet(klb())).toEqual(new Map());
  expect(timeoutsSet(withoutTimeoutsSet(klb(1)))).toEqual(new Map([['l1', {}]]));
});
