import { describe, expect, it } from 'vitest';
import { answer, FakeKubeApi, failure } from '../../../../test/doubles/fake-kube-api.ts';
import { discardLog, type Log } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock, settled } from '@causeway/base/time/simulated-clock';
import { KubeClient } from '../client/client.ts';
import type { Event, Node, Service } from '../objects/core-objects.ts';
import { EventRecorder } from './event-recorder.ts';
import { nodes, services } from '../objects/resources.ts';

const web: Service = {
  metadata: { namespace: 'default', name: 'web', uid: 'u1', resourceVersion: '7' },
};
const taken = { reason: 'AddressTaken', message: '192.0.2.1 is taken' } as const;

function setUp(log: Log = discardLog) {
  const api = new FakeKubeApi();
  const clock = new SimulatedClock();
  const client = new KubeClient({ transport: api, clock, random: () => 0 });
  const recorder = new EventRecorder({
    client,
    component: 'causeway-controller',
    instance: 'host-1',
    eventType: (reason) => (reason === 'Discovered' ? 'Normal' : 'Warning'),
    clock,
    log,
    metrics: noMetrics,
  });
  const controller = new AbortController();
  const running = recorder.run(controller.signal);
  const written = () =>
    [...api.objects]
      .filter(([key]) => key.startsWith('events/'))
      .map(([, event]) => event as Event);
  return {
    api,
    clock,
    recorder,
    written,
    stop: async () => {
      controller.abort();
      await running;
      expect(clock.pendingTimers).toBe(0);
    },
  };
}

describe('EventRecorder', () => {
  it('writes Events as kubectl describe shows them', async () => {
    const { recorder, written, stop } = setUp();
    recorder.record(services, web, taken);
    await settled();
    expect(written()).toMatchObject([
      {
        metadata: { namespace: 'default', name: expect.stringMatching(/^web\.[0-9a-f]+$/) },
        involvedObject: {
          apiVersion: 'v1',
          kind: 'Service',
          namespace: 'default',
          name: 'web',
          uid: 'u1',
          resourceVersion: '7',
        },
        type: 'Warning',
        reason: 'AddressTaken',
        message: '192.0.2.1 is taken',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'causeway-controller', host: 'host-1' },
      },
    ]);
    await stop();
  });

  it('counts repetitions, and starts a new Event after a while or when the old one is deleted', async () => {
    const { api, clock, recorder, written, stop } = setUp();
    recorder.record(services, web, taken);
    recorder.record(services, web, taken);
    await settled();
    await clock.advance(60_000);
    recorder.record(services, web, taken);
    await settled();
    expect(written()).toMatchObject([{ count: 3, lastTimestamp: '2026-01-01T00:01:00Z' }]);
    recorder.record(services, web, { ...taken, message: '192.0.2.2 is taken' });
    await settled();
    expect(written()).toHaveLength(2);
    await clock.advance(11 * 60_000);
    recorder.record(services, web, taken);
    await settled();
    expect(written().map(({ count }) => count)).toEqual([3, 1, 1]);
    const last = written().at(-1)?.metadata;
    api.remove('events', 'default', last?.name ?? '');
    recorder.record(services, web, taken);
    await settled();
    expect(written().map(({ count }) => count)).toEqual([3, 1, 1]);
    await stop();
  });

  it('drops excess Events about one object, and keeps those about others', async () => {
    const { clock, recorder, written, stop } = setUp();
    for (let index = 0; index < 100; index += 1) {
      recorder.record(services, web, { ...taken, message: `try ${index}` });
    }
    recorder.record(services, { metadata: { namespace: 'default', name: 'other' } }, taken);
    await settled();
    expect(written()).toHaveLength(26);
    await clock.advance(300_000);
    recorder.record(services, web, taken);
    recorder.record(services, web, { ...taken, message: 'too soon' });
    await settled();
    expect(written()).toHaveLength(27);
    await stop();
  });

  it('writes Events about cluster-scoped objects to the namespace where kubectl searches them', async () => {
    const { recorder, written, stop } = setUp();
    const node: Node = { metadata: { name: 'gateway-1', uid: 'n1' } };
    recorder.record(nodes, node, taken);
    await settled();
    expect(written()[0]?.metadata?.namespace).toBe('default');
    await stop();
  });

  it('neither fails nor waits when the server fails, and continues with the next', async () => {
    const { api, clock, recorder, written, stop } = setUp();
    let refusals = 4;
    api.fault = () => (refusals-- > 0 ? failure(500, 'InternalError') : undefined);
    recorder.record(services, web, taken);
    recorder.record(services, web, { ...taken, reason: 'NameTaken' });
    await clock.advance(10_000);
    expect(written().map(({ reason }) => reason)).toEqual(['NameTaken']);
    api.fault = () => failure(403, 'Forbidden');
    recorder.record(services, web, { ...taken, reason: 'AddressLost' });
    await settled();
    await stop();
  });

  it('warns about Events that were not written, unless the namespace is being deleted', async () => {
    const warned: string[] = [];
    const log: Log = { ...discardLog, warn: (_, message) => void warned.push(message) };
    const { api, recorder, stop } = setUp(log);
    const causes = [{ reason: 'NamespaceTerminating' }];
    api.fault = () => answer(403, { kind: 'Status', code: 403, details: { causes } });
    recorder.record(services, web, taken);
    await settled();
    expect(warned).toEqual([]);
    api.fault = () => failure(403, 'Forbidden');
    recorder.record(services, web, taken);
    await settled();
    expect(warned).toEqual(['an event was not written']);
    await stop();
  });

  it('writes pending Events when it is stopped', async () => {
    const { recorder, written, stop } = setUp();
    await settled();
    recorder.record(services, web, taken);
    await stop();
    expect(written()).toHaveLength(1);
  });

  it("keeps messages within the server's limit", async () => {
    const { recorder, written, stop } = setUp();
    recorder.record(services, web, { ...taken, message: 'x'.repeat(5_000) });
    await settled();
    expect(written()[0]?.message).toHaveLength(1_000);
    await stop();
  });

  it('drops Normal Events before Warnings when too many wait, writes Warnings first, and reports it', async () => {
    const { recorder, written, stop } = setUp();
    await settled();
    const about = (index: number) => ({ kind: 'Service', namespace: 'default', name: `s${index}` });
    const note = { reason: 'Discovered', message: 'made' } as const;
    const answers = Array.from({ length: 1_001 }, (_, index) =>
      recorder.recordAbout(about(index), note),
    );
    expect(answers.filter((isTaken) => !isTaken)).toHaveLength(1);
    expect(recorder.recordAbout(about(0), taken)).toBe(true);
    await stop();
    expect(written()).toHaveLength(1_000);
    expect(written()[0]?.reason).toBe(taken.reason);
  });
});
