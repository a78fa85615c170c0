import { afterEach, expect, test } from 'vitest';
import { discardLog } from '@causeway/base/observability/log';
import { settled } from '@causeway/base/time/simulated-clock';
import { frontendFromService } from '../../services/frontend-from-service.ts';
import type { FrontendSpec } from '../../services/frontend-spec.ts';
import { noGuards } from '../../services/guard-register.ts';
import { OwnerIndex } from '../../services/owner-index.ts';
import { GatewayLoop } from './gateway-loop.ts';
import { ReasonQueue } from './reasons/reason-queue.ts';
import { ServiceWaits } from './service-waits.ts';

let stop = new AbortController();
let ended: Promise<void> | undefined;
afterEach(async () => {
  stop.abort();
  await ended;
});

/** Runs the loop. `done` has its calls in their order. */
function start() {
  stop = new AbortController();
  const done: string[] = [];
  const reasons = new ReasonQueue();
  const waits = new ServiceWaits();
  const owners = new OwnerIndex();
  const objects: FrontendSpec[] = [];
  const note = (what: string) => () => {
    done.push(what);
  };
  const loop = new GatewayLoop({
    reasons,
    waits,
    owners,
    fleet: {
      apply: note('apply'),
      decidesByProbes: true,
      servicesOf: (frontends) => new Set([...frontends].map((each) => `of ${each}`)),
      setNodes: note('nodes'),
      takeNotServed: () => new Set(),
      report: () => ({ gateways: [], unhealthy: { total: 0, services: [] } }),
      servingSince: () => ({ kind: 'served' }),
      behind: () => [],
      withholding: () => [],
    },
    fencing: { request: note('fences') },
    cleaner: { request: note('clean') },
    configMap: { show: note('publish') },
    policies: {
      update: (namespace) => {
        if (namespace === 'broken') throw new Error('unreadable');
        return [`${namespace}/waits`];
      },
    },
    view: { nodeAddresses: () => [] },
    keeper: { portsOf: () => new Map() },
    manager: { standingOf: () => 'listed' },
    guards: noGuards,
    log: discardLog,
  });
  const host = {
    objects: { values: () => objects },
    enqueue: (key: string) => {
      done.push(key);
    },
  };
  ended = loop.run(host, stop.signal);
  return { reasons, waits, owners, objects, done };
}

test('does the work of many reasons once, then reconciles each Service once', async () => {
  const { reasons, waits, owners, done } = start();
  owners.add({ namespace: 'default', name: 'a', uid: 'u1' });
  waits.forGateways('default/a', { kind: 'network' });
  waits.forAddress('default/b');
  reasons.add({ kind: 'gateway-answered' });
  reasons.add({ kind: 'fences-changed' });
  reasons.add({ kind: 'address-freed' });
  reasons.add({ kind: 'ports-changed', owner: 'u1' });
  reasons.add({ kind: 'ports-changed', owner: 'unknown' });
  reasons.add({ kind: 'endpoints-changed', service: 'default/a' });
  await settled();
  expect(done).toEqual(['apply', 'fences', 'clean', 'publish', 'default/a', 'default/b']);
});

test('after a change of nodes, reconciles the Services with local traffic only', async () => {
  const { reasons, objects, done } = start();
  for (const [name, externalTrafficPolicy] of [
    ['a', 'Local'],
    ['b', 'Cluster'],
  ] as const) {
    const metadata = { namespace: 'default', name };
    objects.push(frontendFromService({ metadata, spec: { externalTrafficPolicy } }));
  }
  reasons.add({ kind: 'nodes-changed' });
  await settled();
  expect(done).toEqual(['apply', 'nodes', 'default/a']);
});

test('continues after a failed step, and loses nothing else', async () => {
  const { reasons, done } = start();
  reasons.add({ kind: 'policies-changed', namespace: 'broken' });
  reasons.add({ kind: 'policies-changed', namespace: 'default' });
  reasons.add({ kind: 'endpoints-changed', service: 'broken/a' });
  await settled();
  expect(done).toEqual(['apply', 'broken/a', 'default/waits']);
  reasons.add({ kind: 'ports-compared' });
  await settled();
  expect(done.slice(3)).toEqual(['apply', 'clean']);
});
