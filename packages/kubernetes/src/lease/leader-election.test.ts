import { describe, expect, it } from 'vitest';
import { FakeKubeApi } from '../../../../test/doubles/fake-kube-api.ts';
import type { CausewayError } from '@causeway/base/error/causeway-error';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { KubeClient } from '../client/client.ts';
import { runAsLeader } from './leader-election.ts';
import type { Leadership } from './leadership.ts';
import { configMaps } from '../objects/resources.ts';
import type { Transport } from '../client/transport.ts';
import type { Lease } from '../objects/workload-objects.ts';

const lease = { namespace: 'kube-system', name: 'controller' };

function setUp() {
  const api = new FakeKubeApi();
  const clock = new SimulatedClock();
  const leaders: string[] = [];

  /** A candidate process. Its link to the server can be cut. */
  function start(identity: string, work?: (signal: AbortSignal) => Promise<void>) {
    const link = { isCut: false, canWrite: true, readsHang: false };
    const transport: Transport = {
      send: (request, signal) =>
        link.readsHang && request.method === 'GET'
          ? whenAborted(signal).then(() => Promise.reject(new Error('aborted')))
          : link.isCut || (!link.canWrite && request.method !== 'GET')
            ? Promise.reject(new Error('network is unreachable'))
            : api.send(request, signal),
      close: () => Promise.resolve(),
    };
    const client = new KubeClient({ transport, clock, random: () => 0 });
    const controller = new AbortController();
    const process = { leadership: undefined as Leadership | undefined };
    let readiness: () => string | undefined = () => 'no answer';
    const addCheck = (_name: string, check: () => string | undefined) => {
      readiness = check;
    };
    const shared = { clock, random: () => 0, log: discardLog, metrics: noMetrics };
    const ended = runAsLeader(
      { client, lease, identity, addCheck, ...shared },
      async (leadership, signal) => {
        process.leadership = leadership;
        leaders.push(identity);
        await (work ?? whenAborted)(signal);
        leaders.splice(leaders.indexOf(identity), 1);
      },
      controller.signal,
    ).then(
      () => 'ended',
      (error: CausewayError) => error.message,
    );
    return {
      link,
      ended,
      client,
      process,
      readiness: () => readiness(),
      stop: () => controller.abort(),
    };
  }
  const stored = (): Lease | undefined => api.objects.get('leases/kube-system/controller');
  return { api, clock, leaders, start, stored };
}

describe('leader election', () => {
  it('takes a missing lease, renews it and releases it', async () => {
    const { clock, leaders, start, stored } = setUp();
    const one = start('one');
    await clock.advance(0);
    expect(leaders).toEqual(['one']);
    const taken = stored()?.spec;
    expect(taken).toMatchObject({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: '2026-01-01T00:00:00.000000Z',
    });
    await clock.advance(60_000);
    expect(stored()?.spec?.acquireTime).toBe(taken?.acquireTime);
    expect(stored()?.spec?.renewTime).toBe('2026-01-01T00:01:00.000000Z');
    one.stop();
    expect(await one.ended).toBe('ended');
    expect(stored()?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('hands over immediately when the leader stops in good order', async () => {
    const { clock, leaders, start, stored } = setUp();
    const one = start('one');
    await clock.advance(0);
    const two = start('two');
    await clock.advance(30_000);
    expect(leaders).toEqual(['one']);
    one.stop();
    await clock.advance(10);
    expect(leaders).toEqual(['two']);
    expect(stored()?.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
    two.stop();
    await two.ended;
  });

  it('abandons work that does not end, so that another candidate can lead', async () => {
    const { clock, leaders, start, stored } = setUp();
    const one = start('one', () => new Promise(() => {}));
    await clock.advance(0);
    const two = start('two');
    await clock.advance(30_000);
    one.stop();
    await clock.advance(10_000);
    expect(await one.ended).toBe('the work did not end within 10000 ms');
    // A request of it may still be in transit: no candidate leads before the lease has expired.
    expect(stored()?.spec?.holderIdentity).toBe('one');
    expect(one.process.leadership?.isHeld).toBe(false);
    await clock.advance(16_000);
    expect(leaders).toEqual(['one', 'two']);
    two.stop();
    await two.ended;
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not check for longer than the lease lasts whether it still holds it', async () => {
    const { api, clock, leaders, start, stored } = setUp();
    const one = start('one');
    await clock.advance(0);
    const lease = stored();
    api.put('leases', { ...lease, metadata: { ...lease?.metadata, labels: { by: 'somebody' } } });
    one.link.readsHang = true;
    await clock.advance(12_000);
    expect(one.process.leadership?.isHeld).toBe(false);
    expect(leaders).toEqual([]);
    one.stop();
    expect(await one.ended).toBe('ended');
  });

  it('never has two leaders when one is cut off: it stops before the other starts', async () => {
    const { clock, leaders, start } = setUp();
    const one = start('one');
    await clock.advance(0);
    const two = start('two');
    await clock.advance(1_000);
    one.link.isCut = true;
    const history: string[] = [];
    for (let second = 0; second < 20; second += 1) {
      await clock.advance(1_000);
      history.push(leaders.join('+') || 'nobody');
    }
    expect(history).not.toContain('one+two');
    expect(new Set(history)).toEqual(new Set(['one', 'nobody', 'two']));
    expect(one.process.leadership?.isHeld).toBe(false);
    two.stop();
    await two.ended;
    one.stop();
    expect(await one.ended).toBe('ended');
  });

  it('leads again with new work after it lost the lease, not before the lost lease expired', async () => {
    const { clock, leaders, start, stored } = setUp();
    const one = start('one');
    await clock.advance(0);
    const first = one.process.leadership;
    one.link.isCut = true;
    await clock.advance(11_000);
    expect(leaders).toEqual([]);
    one.link.isCut = false;
    await clock.advance(3_000);
    // Requests of the first term may still be in transit.
    expect(leaders).toEqual([]);
    await clock.advance(30_000);
    expect(leaders).toEqual(['one']);
    expect(stored()?.spec?.holderIdentity).toBe('one-2');
    expect(first?.isHeld).toBe(false);
    expect(one.process.leadership).not.toBe(first);
    one.stop();
    expect(await one.ended).toBe('ended');
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends if work does not end after the lease was lost', async () => {
    const { clock, start } = setUp();
    const one = start('one', () => new Promise(() => {}));
    await clock.advance(0);
    one.link.isCut = true;
    await clock.advance(30_000);
    expect(await one.ended).toBe('the work did not end within 10000 ms');
  });

  it('is ready when it leads or knows the leader, and not when it can do neither', async () => {
    const { clock, start } = setUp();
    const blind = start('blind');
    blind.link.isCut = true;
    expect(blind.readiness()).toBeDefined();
    const one = start('one');
    await clock.advance(1_000);
    expect(one.readiness()).toBeUndefined();
    expect(blind.readiness()).toMatch(/leases.* are not loaded yet: .*unreachable/);
    await clock.advance(300_000);
    expect(blind.readiness()).toMatch('network is unreachable');
    blind.link.isCut = false;
    await clock.advance(60_000);
    expect(blind.readiness()).toBeUndefined();
    for (const each of [one, blind]) each.stop();
    await Promise.all([one.ended, blind.ended]);
  });

  it('is not ready while it may not take a free lease', async () => {
    const { clock, start } = setUp();
    const one = start('one');
    one.link.canWrite = false;
    await clock.advance(10_000);
    expect(one.readiness()).toMatch('the lease could not be taken');
    one.link.canWrite = true;
    await clock.advance(10_000);
    expect(one.readiness()).toBeUndefined();
    one.stop();
    await one.ended;
  });

  it('rejects writes of a leader after its time, even if it still believes it leads', async () => {
    const { clock, start } = setUp();
    // Work that notices nothing, like a suspended process.
    const one = start('one', () => new Promise(() => {}));
    await clock.advance(0);
    const { leadership } = one.process;
    if (leadership === undefined) throw new Error('no leadership');
    const guarded = one.client.withLeaseGuard(leadership);
    await guarded.create(configMaps, { metadata: { namespace: 'a', name: 'b' } });
    one.link.isCut = true;
    await clock.advance(10_001);
    one.link.isCut = false;
    await expect(
      guarded.patchMerge(configMaps, { namespace: 'a', name: 'b' }, { data: { written: 'late' } }),
    ).rejects.toMatchObject({ code: 'aborted' });
  });

  it('survives short outages and foreign changes of the lease', async () => {
    const { api, clock, leaders, start, stored } = setUp();
    const one = start('one');
    await clock.advance(3_000);
    one.link.isCut = true;
    await clock.advance(5_000);
    one.link.isCut = false;
    await clock.advance(3_000);
    api.put('leases', { ...stored(), metadata: { ...stored()?.metadata, labels: { a: 'b' } } });
    await clock.advance(10_000);
    api.remove('leases', 'kube-system', 'controller');
    await clock.advance(10_000);
    expect(leaders).toEqual(['one']);
    expect(stored()?.spec?.holderIdentity).toBe('one');
    one.stop();
    await one.ended;
  });

  it('stops when another holder suddenly has the lease', async () => {
    const { api, clock, leaders, start, stored } = setUp();
    const one = start('one');
    await clock.advance(0);
    api.put('leases', {
      ...stored(),
      spec: { holderIdentity: 'thief', leaseDurationSeconds: 15 },
    } as Lease);
    await clock.advance(2_000);
    expect(leaders).toEqual([]);
    expect(stored()?.spec?.holderIdentity).toBe('thief');
    one.stop();
    expect(await one.ended).toBe('ended');
  });

  it('detects another leader although its own clock has not advanced', async () => {
    const { api, clock, start, stored } = setUp();
    const one = start('one');
    await clock.advance(0);
    const { signal } = new AbortController();
    await one.process.leadership?.confirm(signal);
    expect(one.process.leadership?.isHeld).toBe(true);
    const taken = { ...stored(), spec: { ...stored()?.spec, holderIdentity: 'two' } };
    api.put('leases', taken);
    await expect(one.process.leadership?.confirm(signal)).rejects.toMatchObject({ code: 'gone' });
    expect(one.process.leadership?.isHeld).toBe(false);
    await clock.advance(3_000);
    one.stop();
    expect(await one.ended).toBe('ended');
  });

  it('uses its own clock, not the times in the lease', async () => {
    const { api, clock, leaders, start } = setUp();
    const spec = {
      holderIdentity: 'dead',
      leaseDurationSeconds: 15,
      renewTime: '2001-01-01T00:00:00.000000Z',
    };
    api.put('leases', { metadata: lease, spec } as Lease);
    const one = start('one');
    await clock.advance(14_900);
    expect(leaders).toEqual([]);
    await clock.advance(200);
    expect(leaders).toEqual(['one']);
    one.stop();
    await one.ended;
  });

  it('keeps the lease while the work shuts down, and reports its failure', async () => {
    const { clock, start, stored } = setUp();
    const windingUp = Promise.withResolvers<void>();
    const slow = start('slow', () => windingUp.promise);
    await clock.advance(0);
    slow.stop();
    await clock.advance(9_000);
    expect(stored()?.spec?.holderIdentity).toBe('slow');
    windingUp.resolve();
    expect(await slow.ended).toBe('ended');
    const failing = start('failing', () => Promise.reject(new Error('no disk')));
    await clock.advance(10);
    expect(await failing.ended).toBe('no disk');
    expect(stored()?.spec?.holderIdentity).toBe('');
  });

  it('ends without an error if it never led', async () => {
    const { clock, start } = setUp();
    const one = start('one');
    await clock.advance(0);
    const two = start('two');
    await clock.advance(5_000);
    two.stop();
    expect(await two.ended).toBe('ended');
    one.stop();
    await one.ended;
    expect(clock.pendingTimers).toBe(0);
  });
});
