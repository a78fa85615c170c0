import { describe, expect, it } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { OpenStackError } from '../error.ts';
import type { LoadBalancing } from './contract.ts';
import { isLocked, whenUnlocked } from './lock.ts';
import type { LoadBalancer, ProvisioningStatus } from './resources.ts';
import { LoadBalancerWaiter } from './waiter.ts';

const signal = new AbortController().signal;
const call = { signal };

/** A cloud of load balancers by status that counts the requests. */
class FakeCloud {
  readonly kind: LoadBalancing['kind'];
  readonly statuses = new Map<string, ProvisioningStatus>();
  readonly clock = new SimulatedClock();
  readonly waiter: LoadBalancerWaiter;
  lists = 0;
  gets = 0;
  failure: CausewayError | undefined;

  constructor(kind: LoadBalancing['kind'] = 'octavia', closed = signal) {
    this.kind = kind;
    const { clock } = this;
    const pace = { baseMs: 1_000, maxMs: 1_000, jitter: 0 };
    const parts = { clock, random: () => 0, log: discardLog, pace, closed };
    this.waiter = new LoadBalancerWaiter(this, parts);
  }

  loadBalancer(id: string): Promise<LoadBalancer> {
    this.gets += 1;
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const provisioningStatus = this.statuses.get(id);
    return provisioningStatus === undefined
      ? Promise.reject(new CausewayError('not-found', 'no such load balancer'))
      : Promise.resolve({ id, provisioningStatus } as LoadBalancer);
  }

  async *loadBalancers(filter: { provisioningStatus?: string }): AsyncGenerator<LoadBalancer> {
    this.lists += 1;
    for (const [id, provisioningStatus] of this.statuses) {
      if (provisioningStatus === filter.provisioningStatus) {
        yield await Promise.resolve({ id, provisioningStatus } as LoadBalancer);
      }
    }
  }
}

const locked = new OpenStackError('conflict', 'locked', {
  service: 'load-balancer',
  outcome: 'refused',
  status: 409,
  serviceMessage: 'Load Balancer x is immutable and cannot be updated.',
});

describe('LoadBalancerWaiter', () => {
  it('polls many load balancers with few requests', async () => {
    const cloud = new FakeCloud();
    const ids = Array.from({ length: 500 }, (_, index) => `lb-${index}`);
    for (const id of ids) cloud.statuses.set(id, 'PENDING_CREATE');
    const all = Promise.all(ids.map((id) => cloud.waiter.active(id, call)));
    await cloud.clock.advance(5_000);
    expect({ lists: cloud.lists, gets: cloud.gets }).toEqual({ lists: 15, gets: 0 });
    for (const id of ids) cloud.statuses.set(id, 'ACTIVE');
    await cloud.clock.advance(1_000);
    expect(await all).toHaveLength(500);
    expect({ lists: cloud.lists, gets: cloud.gets }).toEqual({ lists: 18, gets: 500 });
    expect(cloud.clock.pendingTimers).toBe(0);
  });

  it('polls once for two waits on the same load balancer', async () => {
    const cloud = new FakeCloud();
    cloud.statuses.set('a', 'PENDING_UPDATE');
    const both = [cloud.waiter.settled('a', call), cloud.waiter.settled('a', call)];
    await cloud.clock.advance(1_000);
    expect(cloud.gets).toBe(1);
    cloud.statuses.set('a', 'ERROR');
    await cloud.clock.advance(1_000);
    for (const { provisioningStatus } of await Promise.all(both)) {
      expect(provisioningStatus).toBe('ERROR');
    }
  });

  it.each([
    ['active', 'ERROR', 'conflict'],
    ['active', undefined, 'not-found'],
    ['settled', undefined, 'not-found'],
    ['gone', 'ERROR', 'conflict'],
    ['gone', 'ACTIVE', 'conflict'],
  ] as const)('%s fails when it ends as %s', async (method, status, code) => {
    const cloud = new FakeCloud();
    if (status !== undefined) cloud.statuses.set('a', status);
    const waiting = expect(cloud.waiter[method]('a', call)).rejects.toMatchObject({ code });
    await cloud.clock.advance(1_000);
    await waiting;
  });

  it('ends when a load balancer is deleted', async () => {
    const cloud = new FakeCloud();
    cloud.statuses.set('a', 'PENDING_DELETE');
    const waiting = cloud.waiter.gone('a', call);
    await cloud.clock.advance(3_000);
    cloud.statuses.delete('a');
    await cloud.clock.advance(1_000);
    await waiting;
  });

  it('continues while the cloud is unavailable, and fails when the cloud refuses', async () => {
    const cloud = new FakeCloud();
    cloud.statuses.set('a', 'ACTIVE');
    cloud.failure = new CausewayError('unavailable', 'away');
    const patient = cloud.waiter.active('a', call);
    await cloud.clock.advance(5_000);
    cloud.failure = undefined;
    await cloud.clock.advance(1_000);
    expect((await patient).id).toBe('a');
    cloud.failure = new CausewayError('forbidden', 'no');
    const refused = expect(cloud.waiter.active('a', call)).rejects.toMatchObject({
      code: 'forbidden',
    });
    await cloud.clock.advance(1_000);
    await refused;
  });

  it('ends at the deadline, at the signal and when it is closed, and sends no more requests', async () => {
    const closing = new AbortController();
    const cloud = new FakeCloud('octavia', closing.signal);
    cloud.statuses.set('a', 'PENDING_CREATE');
    const late = expect(
      cloud.waiter.active('a', { ...call, deadlineMs: 1_500 }),
    ).rejects.toMatchObject({ code: 'timeout' });
    await cloud.clock.advance(1_500);
    await late;
    const controller = new AbortController();
    const aborted = expect(
      cloud.waiter.active('a', { signal: controller.signal }),
    ).rejects.toMatchObject({ code: 'aborted' });
    controller.abort();
    await aborted;
    await cloud.clock.advance(2_000);
    const asked = cloud.gets;
    await cloud.clock.advance(10_000);
    expect(cloud.gets).toBe(asked);
    const closed = expect(cloud.waiter.active('a', call)).rejects.toMatchObject({
      code: 'aborted',
    });
    closing.abort();
    await closed;
    expect(cloud.clock.pendingTimers).toBe(0);
  });

  it('ends when the cloud is closed, before a wait and during one', async () => {
    const closing = new AbortController();
    const cloud = new FakeCloud('octavia', closing.signal);
    cloud.statuses.set('a', 'PENDING_CREATE');
    const during = expect(cloud.waiter.active('a', call)).rejects.toMatchObject({
      code: 'aborted',
    });
    await cloud.clock.advance(2_000);
    closing.abort();
    await during;
    await expect(cloud.waiter.active('a', call)).rejects.toMatchObject({ code: 'aborted' });
    expect(cloud.clock.pendingTimers).toBe(0);
  });
});

describe('whenUnlocked', () => {
  it('waits for the lock and then writes', async () => {
    const cloud = new FakeCloud();
    cloud.statuses.set('a', 'PENDING_UPDATE');
    let tries = 0;
    const write = () => {
      tries += 1;
      return cloud.statuses.get('a') === 'ACTIVE'
        ? Promise.resolve('done')
        : Promise.reject(locked);
    };
    const written = whenUnlocked(cloud.waiter, 'a', write, call);
    await cloud.clock.advance(3_000);
    expect(tries).toBe(1);
    cloud.statuses.set('a', 'ACTIVE');
    await cloud.clock.advance(1_000);
    expect(await written).toBe('done');
    expect(tries).toBe(2);
  });

  it('fails for a load balancer in ERROR, and for a lock without a cause', async () => {
    const cloud = new FakeCloud();
    cloud.statuses.set('a', 'ERROR');
    const broken = expect(
      whenUnlocked(cloud.waiter, 'a', () => Promise.reject(locked), call),
    ).rejects.toMatchObject({ code: 'conflict' });
    await cloud.clock.advance(1_000);
    await broken;
    cloud.statuses.set('a', 'ACTIVE');
    let tries = 0;
    const stuck = expect(
      whenUnlocked(cloud.waiter, 'a', () => Promise.reject(((tries += 1), locked)), call),
    ).rejects.toBe(locked);
    await cloud.clock.advance(120_000);
    await stuck;
    expect(tries).toBeLessThan(12);
  });

  it('ends at its deadline, which covers all attempts, and ends the write too', async () => {
    const cloud = new FakeCloud();
    cloud.statuses.set('a', 'ACTIVE');
    const signals: AbortSignal[] = [];
    const write = (own: AbortSignal) => {
      signals.push(own);
      return Promise.reject(locked);
    };
    const late = expect(
      whenUnlocked(cloud.waiter, 'a', write, { ...call, deadlineMs: 3_500 }),
    ).rejects.toMatchObject({ code: 'timeout' });
    await cloud.clock.advance(120_000);
    await late;
    expect(signals.length).toBeLessThan(5);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it('passes other errors on', async () => {
    const cloud = new FakeCloud();
    const duplicate = new OpenStackError('conflict', 'x', {
      service: 'load-balancer',
      outcome: 'refused',
      status: 409,
      serviceMessage: 'Another Listener on this Load Balancer is already using protocol_port 80',
    });
    expect(isLocked(duplicate)).toBe(false);
    await expect(
      whenUnlocked(cloud.waiter, 'a', () => Promise.reject(duplicate), call),
    ).rejects.toBe(duplicate);
  });

  it('treats a 500 of LBaaS v2 as the lock only if the load balancer is pending', async () => {
    const failure = new OpenStackError('unavailable', 'x', {
      service: 'network',
      outcome: 'unknown',
      status: 500,
    });
    const cloud = new FakeCloud('lbaas-v2');
    cloud.statuses.set('a', 'ACTIVE');
    await expect(whenUnlocked(cloud.waiter, 'a', () => Promise.reject(failure), call)).rejects.toBe(
      failure,
    );
    cloud.statuses.set('a', 'PENDING_UPDATE');
    let tries = 0;
    const written = whenUnlocked(
      cloud.waiter,
      'a',
      () => ((tries += 1) === 1 ? Promise.reject(failure) : Promise.resolve('done')),
      call,
    );
    await cloud.clock.advance(1_000);
    cloud.statuses.set('a', 'ACTIVE');
    await cloud.clock.advance(1_000);
    expect(await written).toBe('done');
  });
});
