import { expect, it } from 'vitest';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { ConfigMap, Service } from '@causeway/kubernetes/objects/core-objects';
import { gatewayLayerAnnotation } from '../services/backend-layer.ts';
import type { ObjectName } from '@causeway/kubernetes/objects/object';
import { configMaps, nodes, pods } from '@causeway/kubernetes/objects/resources';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { formatReport } from './activity-report.ts';
import { idleAfterAnnotation, idledAt } from './annotations.ts';
import { AutoIdler } from './auto-idler.ts';
import type { Idler } from './idler.ts';

const service = (marks: Readonly<Record<string, string>> = {}): Service => ({
  metadata: {
    namespace: 'shop',
    name: 'web',
    annotations: { [idleAfterAnnotation]: '60s', ...marks },
  },
});
const asleep = service({ [idledAt]: '2026-01-01T00:00:00Z' });

/**
 * One node that reports an hour without connections, other Services on the same pod, and a controller that
 * checks every ten seconds.
 */
function start(...others: readonly Service[]) {
  const clock = new SimulatedClock();
  let number = 0;
  let report: ConfigMap = {};
  const reportQuiet = () => {
    number += 1;
    const quietSeconds = new Map([
      ['shop/web', 3_600],
      ['shop/quiet', 3_600],
      ['shop/busy', 0],
    ]);
    const written = formatReport('kube-system', { node: 'a', quietSeconds }, number);
    report = { ...written, metadata: { ...written.metadata, resourceVersion: String(number) } };
  };
  async function* list(resource: unknown) {
    await Promise.resolve();
    if (resource === configMaps) yield report;
    else if (resource === nodes) yield { metadata: { name: 'a' } };
    else if (resource === pods) yield { metadata: { name: 'web-1', labels: { app: 'web' } } };
    else yield* others;
  }
  const idled: string[] = [];
  const state = { service: service(), isAsleep: true, isWaking: false, fails: false };
  const idle = ({ name }: ObjectName) => {
    idled.push(name);
    return state.fails ? Promise.reject(new Error('cut off')) : Promise.resolve();
  };
  const plan = () => Promise.resolve({ service: service(), pods: ['web-1'] });
  const events: string[] = [];
  const autoIdler = new AutoIdler({
    client: { list } as unknown as KubeClient,
    idler: { idle, plan } as unknown as Idler,
    services: () => [state.service, ...others],
    isAsleep: () => Promise.resolve(state.isAsleep),
    isWaking: () => state.isWaking,
    recordEvent: (_, { reason }) => events.push(reason),
    namespace: 'kube-system',
    everyMs: 10_000,
    staleAfterMs: 100_000,
    clock,
    log: discardLog,
  });
  const stop = new AbortController();
  const running = autoIdler.run(stop.signal).catch(() => {});
  const end = async () => {
    stop.abort();
    await clock.advance(10_000);
    await running;
  };
  /** Reports before each check. */
  const pass = async (checks: number) => {
    for (let check = 0; check < checks; check += 1) {
      reportQuiet();
      await clock.advance(10_000);
    }
  };
  reportQuiet();
  return { autoIdler, state, events, idled, pass, end };
}

it('counts the unused time from its own start', async () => {
  const { idled, pass, end } = start();
  await pass(6);
  expect(idled).toEqual([]);
  await pass(1);
  expect(idled).toEqual(['web']);
  await end();
});

it('does not count the idle time before a wake-up, however short the idle time was', async () => {
  const { autoIdler, state, idled, pass, end } = start();
  await pass(5);
  autoIdler.note(asleep);
  autoIdler.note(state.service);
  await pass(6);
  expect(idled).toEqual([]);
  state.service = asleep;
  await pass(20);
  expect(idled).toEqual([]);
  state.service = service();
  await pass(7);
  expect(idled).toEqual([]);
  await pass(1);
  expect(idled).toEqual(['web']);
  await end();
});

it('finishes an interrupted idling: marked, but not scaled to 0', async () => {
  const { state, idled, events, pass, end } = start();
  Object.assign(state, { fails: true, isAsleep: false });
  await pass(7);
  expect(idled).toEqual(['web']);
  expect(events).toEqual(['CannotIdle']);
  Object.assign(state, { service: asleep, fails: false });
  await pass(1);
  expect(idled).toEqual(['web', 'web']);
  state.isAsleep = true;
  await pass(20);
  expect(idled).toEqual(['web', 'web']);
  await end();
});

it('finishes an idling that another controller began, after it observed the full idle time itself', async () => {
  const { state, idled, pass, end } = start();
  Object.assign(state, { service: asleep, isAsleep: false });
  await pass(7);
  expect(idled).toEqual([]);
  await pass(1);
  expect(idled).toEqual(['web']);
  await end();
});

it('does not touch a Service during its wake-up, however long the wake-up takes', async () => {
  const { state, idled, pass, end } = start();
  Object.assign(state, { service: asleep, isAsleep: false, isWaking: true });
  await pass(20);
  expect(idled).toEqual([]);
  await end();
});

const onSamePods = (name: string, annotations: Readonly<Record<string, string>>): Service => ({
  metadata: { namespace: 'shop', name, annotations },
  spec: { selector: { app: 'web' } },
});

it.each([
  ['has no idling annotation', onSamePods('quiet', {})],
  ['is in use', onSamePods('busy', { [idleAfterAnnotation]: '60s' })],
])('keeps pods that also serve another Service, which %s', async (_, other) => {
  const { idled, events, pass, end } = start(other);
  await pass(8);
  expect(idled).toEqual([]);
  expect(events).toContain('CannotIdle');
  await end();
});

it('idles Services on the same pods once all of them are unused', async () => {
  const other = onSamePods('quiet', { [idleAfterAnnotation]: '60s' });
  const { idled, events, pass, end } = start(other);
  await pass(8);
  expect(idled.slice(0, 2)).toEqual(['web', 'quiet']);
  expect(events).not.toContain('CannotIdle');
  await end();
});

it('does not idle a Service whose gateways send straight to its pods, and records an Event', async () => {
  const { state, idled, events, pass, end } = start();
  state.service = service({ [gatewayLayerAnnotation]: 'Pod' });
  await pass(8);
  expect(idled).toEqual([]);
  expect(events).toContain('CannotIdle');
  await end();
});
