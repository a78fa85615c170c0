import { describe, expect, test } from 'vitest';
import type { TraceAnswer } from '../../gateway/protocol/trace.ts';
import type { PathEndpoint } from './rows.ts';
import { describeOwner, describeTraces, type GatewayTrace } from './trace-text.ts';

const pod: PathEndpoint = {
  address: '10.244.1.1',
  ports: ['8080/TCP'],
  node: 'node-1',
  target: 'web-a',
  state: 'ready',
};
const answer: TraceAnswer = {
  outcome: 'forwarded',
  because: 'So it is.',
  servedAs: '10.10.0.9:80/TCP',
  destination: '10.244.1.1:8080',
  isSourceKept: true,
  others: [],
  unhealthy: [],
  steps: [{ chain: 'services', rule: 'dnat' }],
};
const trace = (parts: Partial<GatewayTrace>): GatewayTrace => ({
  gateway: 'a',
  role: 'active',
  answer,
  problem: '',
  outages: [],
  ...parts,
});
const service = {
  metadata: { namespace: 'shop', name: 'web' },
  spec: { ports: [{ port: 80, protocol: 'TCP' as const }] },
};

describe('trace output', () => {
  test('shows the destination and the rules, once for gateways that do the same', () => {
    const traces = [trace({}), trace({ gateway: 'b', role: 'standby' })];
    expect(describeTraces(traces, [pod])).toEqual([
      '',
      'a (active): 10.10.0.9:80/TCP goes to 10.244.1.1:8080 (web-a), which sees the client’s address.',
      '  So it is.',
      '    services  dnat',
      '',
      'b (standby): the same.',
    ]);
  });

  test('shows a gateway that does not answer, and unhealthy backends', () => {
    const others = ['10.244.1.2:8080'];
    const traces = [
      trace({ answer: { ...answer, isSourceKept: false, others, unhealthy: others, steps: [] } }),
      trace({ gateway: 'b', answer: undefined, problem: 'it does not answer' }),
    ];
    expect(describeTraces(traces, []).slice(1)).toEqual([
      'a (active): 10.10.0.9:80/TCP goes to 10.244.1.1:8080, which sees the gateway.',
      '  So it is.',
      '  It could also go to 10.244.1.2:8080.',
      "  Left out, because they don't answer: 10.244.1.2:8080.",
      '',
      'b: it does not answer',
    ]);
  });

  test('a gateway with an outage does not answer clients, whatever its rules do', () => {
    const outages = ['bad-health: no IPv4 default route'];
    const able = trace({ gateway: 'b', role: 'standby' });
    const one = describeTraces([trace({ outages }), able], []);
    expect(one).toContain(
      '  ✗ The gateway does not answer clients: bad-health: no IPv4 default route',
    );
    expect(one).not.toContain('✗ No gateway can answer clients now.');
    const none = describeTraces([trace({ outages }), trace({ gateway: 'b', outages })], []);
    expect(none.at(-1)).toBe('✗ No gateway can answer clients now.');
  });

  test('names no holder of an address that is not served', () => {
    const traces = [trace({ answer: { ...answer, outcome: 'not-served', steps: [] } })];
    expect(describeTraces(traces, [])[1]).toBe('a (active): it is not served.');
  });

  test.each([
    [undefined, 'No Service has 192.0.2.1:80/TCP.'],
    [
      { service, role: 'load balancer', hasPort: false } as const,
      'The address belongs to Service shop/web, which has other ports: 80/TCP.',
    ],
    [
      { service, role: 'load balancer', hasPort: true } as const,
      '192.0.2.1:80/TCP is the load balancer address of Service shop/web.',
    ],
  ])('names the Service of the address (%#)', (owner, text) => {
    expect(describeOwner('192.0.2.1:80/TCP', owner, [])).toEqual([text]);
  });

  test('shows a cluster address with its endpoints', () => {
    const owner = { service, role: 'cluster', hasPort: true } as const;
    expect(describeOwner('10.96.0.7:80/TCP', owner, [pod]).at(-1)).toBe(
      '  10.244.1.1 8080/TCP (web-a on node-1), ready',
    );
  });
});
