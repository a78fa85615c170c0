import { expect, it, vi } from 'vitest';
import { formatPrefix } from '@causeway/base/address/prefix';
import { nodes } from '@causeway/kubernetes/objects/resources';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import { followPodNetworks } from './follow-pod-networks.ts';

it('reports the pod networks of all nodes once all nodes are known', async () => {
  const client = memoryKubeClient();
  await client.create(nodes, { metadata: { name: 'a' }, spec: { podCIDR: '10.1.0.0/24' } });
  const podCIDRs = ['10.1.1.0/24', 'fd01:0:0:1::/64'];
  await client.create(nodes, { metadata: { name: 'b' }, spec: { podCIDRs } });
  await client.create(nodes, { metadata: { name: 'no-networks' } });
  const reported: string[][] = [];
  const stop = new AbortController();
  const running = followPodNetworks(
    {
      client,
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
      onChange: (networks) => void reported.push(networks.map(formatPrefix).sort()),
    },
    stop.signal,
  );
  await vi.waitFor(() => expect(reported).not.toEqual([]), { timeout: 60_000 });
  expect(reported).toEqual([['10.1.0.0/24', ...podCIDRs]]);
  stop.abort();
  await running;
});
