import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { runAsLeader } from '../../../packages/kubernetes/src/lease/leader-election.ts';
import { leases } from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { whenAborted } from '../../../packages/base/src/time/when-aborted.ts';
import { waitFor } from '../../services/wait-for.ts';
import { clientFor, clusters, connectionTo, type Cluster } from './cluster.ts';

describe.each(clusters)('leader election on $name', ({ start: startCluster }) => {
  let cluster: Cluster;
  let client: KubeClient;
  beforeAll(async () => {
    cluster = await startCluster();
    client = clientFor(await connectionTo(cluster));
  });
  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  const lease = { namespace: 'default', name: 'test' };
  const leaders: string[] = [];
  let mostAtOnce = 0;
  function start(identity: string) {
    const stop = new AbortController();
    const ended = runAsLeader(
      {
        client,
        lease,
        identity,
        clock: systemClock,
        log: discardLog,
        metrics: noMetrics,
        // Long enough that a busy machine does not lose it.
        times: { leaseMs: 40_000, renewDeadlineMs: 30_000, retryMs: 200 },
      },
      async (_, signal) => {
        leaders.push(identity);
        mostAtOnce = Math.max(mostAtOnce, leaders.length);
        await whenAborted(signal);
        leaders.splice(leaders.indexOf(identity), 1);
      },
      stop.signal,
    );
    return { stop: () => stop.abort(), ended };
  }

  it('passes the lease from one candidate to the next, with one leader at a time', async () => {
    const one = start('one');
    await waitFor('one to lead', () => leaders.length === 1);
    const others = [start('two'), start('three')];
    const renewed = (await client.get(leases, lease)).spec?.renewTime;
    await waitFor('a renewal', async () => {
      return (await client.get(leases, lease)).spec?.renewTime !== renewed;
    });
    expect(leaders).toEqual(['one']);
    one.stop();
    await one.ended;
    await waitFor('another to lead', () => leaders.length === 1);
    expect(['two', 'three']).toContain(leaders[0]);
    for (const other of others) other.stop();
    await Promise.all(others.map(({ ended }) => ended));
    expect((await client.get(leases, lease)).spec?.holderIdentity ?? '').toBe('');
  });

  it('never has two leaders across a crash of the server', async () => {
    const one = start('four');
    const ended = one.ended.catch(() => 'lost');
    await waitFor('four to lead', () => leaders[0] === 'four');
    const two = start('five');
    await cluster.restart();
    // Whether the lease survived depends on the time of the restart.
    await waitFor('a leader', () => leaders.length === 1);
    one.stop();
    await ended;
    await waitFor('the other to lead', () => leaders[0] === 'five');
    two.stop();
    await two.ended;
    expect(mostAtOnce).toBe(1);
  });
});
