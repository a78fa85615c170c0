import { expect, test } from 'vitest';
import { noProblems, type GatewayFacts } from '../../health/facts.ts';
import { sampleGateway } from '../../../../../test/browser/sample-rows.ts';
import { withRows } from './health-source.ts';

const now = 1_000_000;
const reported: GatewayFacts = {
  name: 'a',
  observedAt: now - 50_000,
  reachable: true,
  failure: undefined,
  failedSince: undefined,
  role: 'standby',
  alarms: [],
  isFenced: true,
  rejected: noProblems,
  unconfirmed: { total: 3, listed: new Map() },
};

test('the answer of a gateway is newer than the report, which has the rest', () => {
  const alarms = ['link-down: ext is down'];
  const [facts] = withRows([reported], [sampleGateway('a', { alarms })], now) ?? [];
  expect(facts).toEqual({ ...reported, observedAt: now, role: 'active', alarms });
});

test('a gateway that does not answer the dashboard keeps its report with its age', () => {
  const row = sampleGateway('a', { reachable: false, message: 'timeout' });
  expect(withRows([reported], [row], now)).toEqual([reported]);
  expect(withRows(undefined, [row], now)).toMatchObject([
    { name: 'a', reachable: false, role: undefined, failure: 'timeout' },
  ]);
});

test('without a report and gateways nothing is known', () => {
  expect(withRows(undefined, [], now)).toBeUndefined();
});
