import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { parsePrefix } from '@causeway/base/address/prefix';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import { frontendKey, makeFrontend, type FrontendParts } from '../../protocol/frontend.ts';
import { emptyState, type GatewayState } from '../store/state.ts';
import { traceConnection } from './trace-connection.ts';
import type { TraceQuestion } from '../../protocol/trace.ts';

const settings: LayoutSettings = {
  table: 'causeway',
  hashSeed: 7,
  localSources: [parsePrefix('10.244.0.0/16')],
  hairpin: false,
  resumeConnections: true,
};
const pod = (last: number) => ({
  address: parseAddress(`10.244.1.${last}`),
  port: parsePort(8080),
  weight: 1,
});
const web = {
  address: parseAddress('10.10.0.9'),
  protocol: 'TCP',
  port: parsePort(80),
  service: 'shop/web',
  destinations: [pod(1), pod(2)],
} as const;

function stateWith(parts: FrontendParts, nodes: readonly string[] = []): GatewayState {
  const frontend = makeFrontend(parts);
  const known = nodes.map((each) => parseAddress(each));
  return {
    ...emptyState,
    frontends: new Map([[frontendKey(frontend), frontend]]),
    nodes: new Map(known.map((address) => [address, { address }])),
  };
}

const question: TraceQuestion = {
  client: parseAddress('198.51.100.10'),
  clientPort: parsePort(40_000),
  address: web.address,
  protocol: 'TCP',
  port: web.port,
};
const ask = (
  state: GatewayState,
  changes: Partial<TraceQuestion> = {},
  unhealthy: readonly string[] = [],
) =>
  traceConnection(
    { state, settings, unhealthy: new Set(unhealthy.map((each) => parseAddress(each))) },
    { ...question, ...changes },
  );

describe('tracing a connection', () => {
  test('goes to one of the backends, and lists the rules', () => {
    const answer = ask(stateWith(web));
    expect(answer).toMatchObject({ outcome: 'forwarded', isSourceKept: true, unhealthy: [] });
    expect(['10.244.1.1:8080', '10.244.1.2:8080']).toContain(answer.destination);
    expect([answer.destination, ...answer.others].sort()).toEqual([
      '10.244.1.1:8080',
      '10.244.1.2:8080',
    ]);
    const rules = answer.steps.map(({ rule }) => rule).join('\n');
    expect(rules).toContain('dnat');
    expect(rules).not.toContain('seed');
  });

  test('finds a backend for every client port, and uses all backends', () => {
    const state = stateWith(web);
    const hit = new Set<string>();
    for (let port = 1; port < 200; port += 1) {
      hit.add(ask(state, { clientPort: parsePort(port) }).destination);
    }
    expect(hit).toEqual(new Set(['10.244.1.1:8080', '10.244.1.2:8080']));
  });

  test('finds the frontend by its Service if a floating IP hides the served address', () => {
    const address = parseAddress('203.0.113.5');
    expect(ask(stateWith(web), { address }).outcome).toBe('not-served');
    const answer = ask(stateWith(web), { address, service: 'shop/web' });
    expect(answer).toMatchObject({ outcome: 'forwarded', servedAs: '10.10.0.9:80/TCP' });
  });

  test('rewrites the source of a client in the pod network', () => {
    const answer = ask(stateWith(web), { client: parseAddress('10.244.9.9') });
    expect(answer.isSourceKept).toBe(false);
    expect(answer.because).toContain('rewritten');
  });

  test('goes to a node, by node port or unchanged', () => {
    const { destinations: _, ...bare } = web;
    const byPort = ask(stateWith({ ...bare, nodePort: parsePort(30_080) }, ['192.168.50.21']));
    expect(byPort).toMatchObject({ outcome: 'forwarded', destination: '192.168.50.21:30080' });
    const routed = ask(stateWith({ ...bare, routedTo: 'nodes' }, ['192.168.50.21']));
    expect(routed).toMatchObject({ outcome: 'sent-unchanged', destination: '192.168.50.21:80' });
  });

  test('skips unhealthy backends and lists them', () => {
    const answer = ask(stateWith(web), {}, ['10.244.1.1']);
    expect(answer).toMatchObject({
      destination: '10.244.1.2:8080',
      others: [],
      unhealthy: ['10.244.1.1:8080'],
    });
  });
});

describe('tracing a connection without a backend explains', () => {
  test.each([
    [
      'a client outside of the source ranges',
      { sourceRanges: [parsePrefix('192.0.2.0/24')] },
      'source ranges',
    ],
    ['a Service without endpoints', { destinations: [] }, 'no ready endpoint'],
    [
      'a Service without ready endpoints',
      { destinations: [{ ...pod(1), weight: 0 }] },
      'no ready endpoint',
    ],
  ])('%s', (_, parts, because) => {
    const answer = ask(stateWith({ ...web, ...parts }));
    expect(['dropped', 'rejected']).toContain(answer.outcome);
    expect(answer.because).toContain(because);
    expect(answer.destination).toBe('');
  });

  test('a missing node', () => {
    const { destinations: _, ...bare } = web;
    const answer = ask(stateWith({ ...bare, nodePort: parsePort(30_080) }));
    expect(answer.because).toBe('There is no node to send it to.');
  });

  test('a port that is not served, and lists the served ports', () => {
    expect(ask(stateWith(web), { port: parsePort(81) })).toMatchObject({
      outcome: 'not-served',
      because: 'This gateway serves other ports on the address: 80/TCP.',
    });
  });
});
