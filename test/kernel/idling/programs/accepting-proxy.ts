// The node's proxy, with the Service asleep and its connections accepted; SIGUSR1 wakes it.
import { KubeClient } from '../../../../src/kube/client.ts';
import { holdAnnotation } from '../../../../src/idling/annotations.ts';
import { IdleServices } from '../../../../src/proxy/holder/idle-services.ts';
import { holderSettings } from '../../../../src/proxy/holder/settings.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { silentLog } from '../../../../src/runtime/log.ts';
import { noMetrics } from '../../../../src/runtime/metrics.ts';
import { openBase, webService, webSlices } from '../node.ts';

const setting = { clock: systemClock, log: silentLog, metrics: noMetrics };
const unreachable = () => Promise.reject(new Error('there is no cluster here'));
const client = new KubeClient({
  clock: systemClock,
  transport: { request: unreachable, close: () => Promise.resolve() } as never,
});
const { base } = await openBase('/proc/self/ns/net');
const settings = holderSettings.parse({});
const idle = new IdleServices({ ...setting, settings, inner: base, client, node: 'node1' });
base.onCommit((served) => {
  for (const { diversion } of served) {
    if (diversion?.kind === 'accept') process.stdout.write('asleep\n');
  }
});
const { signal } = new AbortController();
const service = webService(true);
const annotations = { ...service.metadata?.annotations, [holdAnnotation]: 'accept' };
idle.proxy.setService({ ...service, metadata: { ...service.metadata, annotations } });
for (const slice of webSlices(false)) idle.proxy.setSlice(slice);
idle.proxy.synced();
process.on('SIGUSR1', () => {
  for (const slice of webSlices(true)) idle.proxy.setSlice(slice);
});
await Promise.all([base.run(signal), idle.run(signal)]);
