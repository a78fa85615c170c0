import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatPrefix } from '../../../packages/base/src/address/prefix.ts';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { isServed } from '../../../packages/kubernetes/src/objects/is-served.ts';
import {
  followServiceNetworks,
  serviceCIDRs,
} from '../../../packages/causeway/src/node-proxy/service-networks.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { waitFor } from '../../services/wait-for.ts';
import { clientFor, clusters, connectionTo, type Cluster } from '../kube-client/cluster.ts';

const real = clusters.filter(({ name }) => name.includes('real'));

describe.each(real)('the networks of cluster addresses on $name', ({ start }) => {
  let cluster: Cluster;
  let client: KubeClient;
  beforeAll(async () => {
    cluster = await start();
    client = clientFor(await connectionTo(cluster));
  });
  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  it('are followed', async () => {
    const stop = new AbortController();
    let networks: string[] = [];
    const following = followServiceNetworks(
      {
        client,
        clock: systemClock,
        log: discardLog,
        metrics: noMetrics,
        onChange: (now) => (networks = now.map(formatPrefix).sort()),
      },
      stop.signal,
    );
    const become = (...wanted: string[]) =>
      waitFor(`the networks to be ${wanted.join()}`, () => networks.join() === wanted.join());
    await become('10.96.0.0/16', 'fd00:96::/112');
    await client.create(serviceCIDRs, {
      metadata: { name: 'more' },
      spec: { cidrs: ['10.97.0.0/24'] },
    });
    await become('10.96.0.0/16', '10.97.0.0/24', 'fd00:96::/112');
    stop.abort();
    await following;
  });
});

it('a cluster that does not report them is noticed', async () => {
  const embedded = clusters.find(({ name }) => name.includes('embedded'));
  const cluster = await embedded?.start();
  if (cluster === undefined) throw new Error('the embedded API is always there');
  const client = clientFor(await connectionTo(cluster));
  expect(await isServed(client, serviceCIDRs, new AbortController().signal)).toBe(false);
  await client.close();
  await cluster.stop();
});
