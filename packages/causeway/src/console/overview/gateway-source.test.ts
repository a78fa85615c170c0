import { expect, test } from 'vitest';
import type { AgentStatus } from '../../gateway/protocol/agent-status.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { connectionsTo, gatewayRow, readGateway } from './gateway-source.ts';

const status: AgentStatus = {
  agent: 'a',
  version: '1',
  revisions: { oldest: 1, newest: 1 },
  generation: 7,
  frontends: 3,
  older: [],
  errors: [],
  notFailoverSafe: [],
  sound: true,
  vrrp: { state: 'MASTER', since: null },
  frozen: null,
  drained: null,
  undoSteps: 0,
  unhealthy: { heard: 0, seen: [], acted: ['10.0.0.1'] },
  alarms: [],
  kernelSettings: [],
  connections: { count: 5, limit: 9 },
};
const signal = new AbortController().signal;
const away = () => Promise.reject(new CausewayError('unavailable', 'it does not answer'));

test('a healthy gateway has no message', () => {
  expect(gatewayRow('a', 'u', status)).toMatchObject({
    vrrp: 'MASTER',
    message: '',
    unhealthy: ['10.0.0.1'],
    connections: 5,
  });
});

test.each([
  ['bad-health: ext lost the route default', false],
  ['link-down: ext is down', false],
  ['forged-adverts: adverts were dropped', true],
])('a gateway with the alarm %s can serve: %s', (alarm, canServe) => {
  expect(gatewayRow('a', 'u', { ...status, alarms: [alarm] })).toMatchObject({ canServe });
});

test('describes all problems in one line', () => {
  const { message } = gatewayRow('a', 'u', {
    ...status,
    sound: false,
    alarms: ['Two masters.'],
    kernelSettings: [{ name: 'net.x', wanted: '1', found: null }],
  });
  expect(message).toBe(
    'Two masters. The kernel may differ from the accepted configuration. net.x is missing, not 1.',
  );
});

test('keeps the last state of a gateway that does not answer', async () => {
  const last = gatewayRow('a', 'u', status);
  const client = { status: away, counters: away };
  expect(await readGateway('a', { url: 'u', client }, last, signal)).toEqual({
    ...last,
    reachable: false,
    canServe: false,
    vrrp: 'unknown',
    message: 'it does not answer',
  });
  const never = await readGateway('a', { url: 'u', client }, undefined, signal);
  expect(never).toMatchObject({ key: 'a', reachable: false, generation: 0 });
  expect(
    await connectionsTo({ url: 'u', client }, { key: 'shop/web', addresses: ['x'] }, signal),
  ).toBeUndefined();
});

test('sums connections over the ports of a Service, also behind a floating IP', async () => {
  const counters = () =>
    Promise.resolve([
      { address: '192.0.2.1', protocol: 'TCP', port: 80, connections: '3' },
      { address: '10.10.0.9', protocol: 'TCP', port: 443, service: 'shop/web', connections: '4' },
      { address: '10.10.0.9', protocol: 'TCP', port: 80, service: 'shop/api', connections: '9' },
    ] as const);
  const client = { status: away, counters };
  const service = { key: 'shop/web', addresses: ['192.0.2.1'] };
  expect(await connectionsTo({ url: 'u', client }, service, signal)).toBe(7);
});
