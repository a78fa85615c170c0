import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatReport } from '../../../packages/causeway/src/idling/activity-report.ts';
import { idleAfterAnnotation } from '../../../packages/causeway/src/idling/annotations.ts';
import { AutoIdler } from '../../../packages/causeway/src/idling/auto-idler.ts';
import { Idler } from '../../../packages/causeway/src/idling/idler.ts';
import { listIdle } from '../../../packages/causeway/src/idling/list-idle.ts';
import { ScaleDiscovery } from '../../../packages/causeway/src/idling/scale-discovery.ts';
import { Waker } from '../../../packages/causeway/src/idling/waker.ts';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { configMaps, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { clientFor, connectionTo } from '../kube-client/cluster.ts';
import { LiveCluster } from '../kubernetes-live/live-cluster.ts';
import { addNode, sleepyDeployment, webService } from './objects.ts';

describe.runIf(await isAvailable(() => prepareKubernetes({ controllerManager: true }))).each([
  ['embedded', () => LiveCluster.embedded()],
  ['real', () => LiveCluster.real()],
] as const)('automatic idling on the %s cluster', (_, start) => {
  let cluster: LiveCluster;
  let client: KubeClient;
  beforeAll(async () => {
    cluster = await start();
    client = clientFor(await connectionTo(cluster.server));
    await addNode(cluster);
  });
  afterAll(async () => {
    await client.close();
    await cluster.server.stop();
  });

  test('a Service is idled once its node has reported a quiet time, and not before', async () => {
    const space = await cluster.workspace('quiet');
    for (const name of ['web', 'busy', 'plain']) {
      const annotations = name === 'plain' ? {} : { [idleAfterAnnotation]: '1s' };
      await space.create('services', { ...webService(name), metadata: { name, annotations } });
      await space.create('deployments', sleepyDeployment(name, 1));
    }
    await space.until('pods', 'pods', (all) => all.length === 3);
    const { signal } = new AbortController();
    const all: Service[] = [];
    for await (const service of client.list(services, { namespace: 'quiet' })) all.push(service);
    const stop = new AbortController();
    const events: string[] = [];
    const discovery = new ScaleDiscovery(client);
    const waker = new Waker({ client, discovery });
    const autoIdler = new AutoIdler({
      client,
      idler: new Idler({ client, discovery, clock: systemClock }),
      services: () => all,
      isAsleep: (service, inner) => waker.isAsleep(service, inner),
      isWaking: () => false,
      recordEvent: (service, { reason }) => events.push(`${service.metadata?.name} ${reason}`),
      namespace: 'kube-system',
      everyMs: 100,
      staleAfterMs: 30_000,
      clock: systemClock,
      log: discardLog,
    });
    const running = autoIdler.run(stop.signal).catch(() => {});
    let number = 0;
    const quietSeconds = new Map([
      ['quiet/web', 700],
      ['quiet/busy', 0],
      ['quiet/plain', 10_000],
    ]);
    await waitFor('it to sleep', async () => {
      number += 1;
      const report = formatReport('kube-system', { node: 'node-1', quietSeconds }, number);
      await client.apply(configMaps, report, { fieldManager: 'test', force: true });
      return events.includes('web Idled');
    });
    stop.abort();
    await running;
    expect((await listIdle(client, 'quiet', signal)).map(({ service }) => service)).toEqual([
      'web',
    ]);
  });
});
