import { expect, test } from 'vitest';
import type { ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import type { Endpoint } from '@causeway/kubernetes/objects/network-objects';
import { makeService, makeSlice } from './testing/objects.ts';
import { tracedNode } from './testing/traced-node.ts';
import { translateService } from './translate-service.ts';
import { UdpFlows } from './udp-flows.ts';

const ports = [{ port: 53, protocol: 'UDP' as const, nodePort: 30_053 }];
const ready = (address: string, more: Partial<Endpoint> = {}): Endpoint => ({
  addresses: [address],
  nodeName: 'node2',
  conditions: { ready: true, serving: true, terminating: false },
  ...more,
});
const terminating = (serving: boolean) => ({
  conditions: { ready: false, serving, terminating: true },
});
const inZone = (name: string) => ({ hints: { forZones: [{ name }] } });

/** The targets of a Service with these endpoints, each with the endpoints that keep their flows. */
function targetsOf(endpoints: readonly Endpoint[], spec: ServiceSpec = {}) {
  const service = makeService({ spec: { type: 'NodePort', ports, ...spec } });
  const slices = [makeSlice({ endpoints, ports: [{ port: 8053, protocol: 'UDP' }] })];
  const { targets } = translateService({ service, slices, diversion: undefined, node: tracedNode });
  return targets.map(({ virtual, serving = [] }) => ({ ...virtual, serving }));
}

test.each<[string, readonly Endpoint[], readonly Endpoint[], ServiceSpec, boolean]>([
  ['nothing changed', [ready('10.1.0.1')], [ready('10.1.0.1')], {}, false],
  ['an endpoint was added', [ready('10.1.0.1')], [ready('10.1.0.1'), ready('10.1.0.2')], {}, false],
  [
    'an endpoint terminates and serves',
    [ready('10.1.0.1'), ready('10.1.0.2')],
    [ready('10.1.0.1'), ready('10.1.0.2', terminating(true))],
    {},
    false,
  ],
  [
    'an endpoint serves and is not ready',
    [ready('10.1.0.1'), ready('10.1.0.2')],
    [ready('10.1.0.1'), ready('10.1.0.2', { conditions: { ready: false, serving: true } })],
    {},
    false,
  ],
  [
    'an endpoint terminates and serves no longer',
    [ready('10.1.0.1'), ready('10.1.0.2', terminating(true))],
    [ready('10.1.0.1'), ready('10.1.0.2', terminating(false))],
    {},
    true,
  ],
  [
    'an endpoint was removed',
    [ready('10.1.0.1'), ready('10.1.0.2')],
    [ready('10.1.0.1')],
    {},
    true,
  ],
  ['the last endpoint was removed', [ready('10.1.0.1')], [], {}, true],
  ['the first endpoint was added', [], [ready('10.1.0.1')], {}, true],
  [
    'hints select another endpoint',
    [ready('10.1.0.1', inZone('a')), ready('10.1.0.2', inZone('a'))],
    [ready('10.1.0.1', inZone('a')), ready('10.1.0.2', inZone('b'))],
    {},
    false,
  ],
  [
    'an endpoint on this node becomes ready under the policy Local',
    [ready('10.1.0.1'), ready('10.1.0.2', { nodeName: 'node1', ...terminating(true) })],
    [ready('10.1.0.1'), ready('10.1.0.2', { nodeName: 'node1' })],
    { internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' },
    false,
  ],
])(
  'conntrack is checked only if a flow has lost its endpoint: %s',
  (_, before, after, spec, isChecked) => {
    const flows = new UdpFlows();
    for (const target of targetsOf(before, spec)) expect(flows.set(target)).toBe(true);
    const checked = targetsOf(after, spec).map((target) => flows.set(target));
    expect(checked.length).toBeGreaterThan(1);
    expect(new Set(checked)).toEqual(new Set([isChecked]));
  },
);

test('flows keep every serving endpoint, whatever policies and hints select for new flows', () => {
  const endpoints = [
    ready('10.1.0.1', { nodeName: 'node1', ...inZone('a') }),
    ready('10.1.0.2', inZone('b')),
    ready('10.1.0.3', terminating(true)),
    ready('10.1.0.4', terminating(false)),
  ];
  const policies = { internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' } as const;
  for (const spec of [{}, policies]) {
    for (const { serving } of targetsOf(endpoints, spec)) {
      expect(serving.map(({ address }) => address)).toEqual(['10.1.0.1', '10.1.0.2', '10.1.0.3']);
    }
  }
});
