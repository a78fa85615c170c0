import { describe, expect, test } from 'vitest';
import type { TraceAnswer } from '../../gateway/protocol/trace.ts';
import type { PathEndpoint } from './rows.ts';
import type { AgentStatus } from '../../gateway/protocol/agent-status.ts';
import { gatewayPath } from '../../health/gateway-health.ts';
import { answerFacts, noAnswerFacts } from './gateway-source.ts';
import { describeOwner, describeTraces, judgeTraces, type GatewayTrace } from './trace-text.ts';

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
const trace = (gateway: string, role: 'active' | 'standby' = 'active'): GatewayTrace => ({
  gateway,
  path: { gateway, role, ability: 'able', cause: undefined },
  answer,
});
const broken = ({ gateway, ...rest }: GatewayTrace): GatewayTrace => {
  const status = { announcer: { role: 'active' }, alarms: ['bad-health: no IPv4 default route'] };
  const facts = answerFacts(gateway, status as unknown as AgentStatus, 0);
  return { ...rest, gateway, path: gatewayPath(facts, 4, 0) };
};
const service = {
  metadata: { namespace: 'shop', name: 'web' },
  spec: { ports: [{ port: 80, protocol: 'TCP' as const }] },
};

describe('trace output', () => {
  test('shows the destination and the rules, once for gateways that do the same', () => {
    const traces = [trace('a'), trace('b', 'standby')];
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
      {
        ...trace('a'),
        answer: { ...answer, isSourceKept: false, others, unhealthy: others, steps: [] },
      },
      {
        gateway: 'b',
        path: gatewayPath(noAnswerFacts('b', 'no route', 0), 4, 0),
        answer: undefined,
      },
    ];
    expect(describeTraces(traces, []).slice(1)).toEqual([
      'a (active): 10.10.0.9:80/TCP goes to 10.244.1.1:8080, which sees the gateway.',
      '  So it is.',
      '  It could also go to 10.244.1.2:8080.',
      "  Left out, because they don't answer: 10.244.1.2:8080.",
      '',
      'b: The agent of b does not answer: no route',
      '',
      '! Clients get an answer, but:',
      '  No other gateway can take over from a: The agent of b does not answer: no route',
      expect.stringContaining('Repair the standby gateways'),
    ]);
  });

  test('a gateway with an outage does not answer clients, whatever its rules do', () => {
    const one = describeTraces([broken(trace('a')), trace('b', 'standby')], []);
    expect(one).toContain("  ✗ a can't serve: bad-health: no IPv4 default route");
    expect(one).toContain('✗ Clients get no answer:');
    expect(judgeTraces([broken(trace('a')), trace('b')])).toMatchObject({ state: 'degraded' });
    const none = [broken(trace('a')), broken(trace('b'))];
    expect(judgeTraces(none)).toMatchObject({ state: 'not-served' });
  });

  test('a connection that the rules of the active gateway drop is not served', () => {
    const dropped = { ...trace('a'), answer: { ...answer, outcome: 'dropped' as const } };
    expect(judgeTraces([dropped, trace('b', 'standby')])).toMatchObject({
      state: 'not-served',
      causes: [{ code: 'rejected', message: 'a: So it is.' }],
    });
    expect(judgeTraces([trace('a')])).toEqual({ state: 'serving', causes: [] });
  });

  test('names no holder of an address that is not served', () => {
    const traces = [
      { ...trace('a'), answer: { ...answer, outcome: 'not-served' as const, steps: [] } },
    ];
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
