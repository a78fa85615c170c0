import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { frontendKey } from '../../protocol/frontend.ts';
import { decideWork, type Action } from './decide-work.ts';
import type { Reason } from './reason-queue.ts';

const frontend = frontendKey({
  address: parseAddress('192.0.2.1'),
  protocol: 'TCP',
  port: parsePort(80),
});
const afterAnswer: readonly Action[] = [
  'refresh-fleet',
  'tend-fences',
  'clean-ports',
  'publish-gateways',
  'end-waits',
];

const table: readonly (readonly [Reason, readonly Action[], object])[] = [
  [{ kind: 'gateway-answered' }, afterAnswer, {}],
  [{ kind: 'removals-verified' }, afterAnswer, {}],
  [{ kind: 'fences-changed' }, afterAnswer, {}],
  [
    { kind: 'gateway-status', gateway: 'g1' },
    ['agree-on-health', 'publish-gateways'],
    { gateways: new Set(['g1']) },
  ],
  [{ kind: 'generation-raised' }, ['send-updates'], {}],
  [{ kind: 'rejection-changed', frontend }, [], { rejections: new Set([frontend]) }],
  [{ kind: 'removal-allowed', frontend }, [], { allowedRemovals: new Set([frontend]) }],
  [{ kind: 'fence-requests-changed' }, ['tend-fences'], {}],
  [{ kind: 'address-blocked' }, ['tend-fences'], {}],
  [{ kind: 'address-freed' }, ['clean-ports', 'retry-refused', 'report-addresses'], {}],
  [{ kind: 'ports-changed', owner: 'u1' }, ['report-addresses'], { owners: new Set(['u1']) }],
  [{ kind: 'ports-compared' }, ['clean-ports', 'report-addresses'], {}],
  [{ kind: 'endpoints-changed', service: 'a/b' }, [], { services: new Set(['a/b']) }],
  [{ kind: 'nodes-changed' }, ['update-nodes'], {}],
  [{ kind: 'policies-changed', namespace: 'a' }, [], { namespaces: new Set(['a']) }],
];

test.each(table)('after %j', (reason, actions, objects) => {
  const { actions: decided, ...others } = decideWork([reason]);
  expect([...decided]).toEqual(actions);
  const concerned = Object.entries(others).filter(([, each]) => each.size > 0);
  expect(Object.fromEntries(concerned)).toEqual(objects);
});

test('does work once for many reasons', () => {
  const { actions, services } = decideWork([
    { kind: 'address-freed' },
    { kind: 'gateway-answered' },
    { kind: 'endpoints-changed', service: 'default/a' },
    { kind: 'endpoints-changed', service: 'default/b' },
  ]);
  expect(actions).toEqual(new Set([...afterAnswer, 'retry-refused', 'report-addresses']));
  expect(services).toEqual(new Set(['default/a', 'default/b']));
});
