// The node's proxy, with an idle Service and accepted connections; SIGUSR1 wakes it, SIGUSR2 takes all
// remaining file descriptors, or gives them back. With the argument `parked`, connections are parked until
// SIGHUP.
import fs from 'node:fs';
import { KubeClient } from '../../../../packages/kubernetes/src/client/client.ts';
import { holdAnnotation } from '../../../../packages/causeway/src/idling/annotations.ts';
import { IdleServices } from '../../../../packages/causeway/src/node-proxy/holder/idle-services.ts';
import { holderSettings } from '../../../../packages/causeway/src/node-proxy/holder/settings.ts';
import { systemClock } from '../../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../../packages/base/src/observability/log.ts';
import { noMetrics, type Metrics } from '../../../../packages/base/src/observability/metrics.ts';
import { openPipeline, webService, webSlices } from '../node.ts';

/** Reports an accepted connection. */
const metrics: Metrics = {
  ...noMetrics,
  counter: () => ({
    add(labels) {
      if (Object.values(labels).includes('accepted')) process.stdout.write('accepted\n');
    },
  }),
};
const setting = { clock: systemClock, log: discardLog, metrics };
const unreachable = () => Promise.reject(new Error('there is no cluster here'));
const client = new KubeClient({
  clock: systemClock,
  transport: { request: unreachable, close: () => Promise.resolve() } as never,
});
const settings = holderSettings.parse({});
const idle = new IdleServices({ ...setting, settings, client, node: 'node1' });
const { pipeline, objects } = await openPipeline('/proc/self/ns/net', { idling: idle.stage });
pipeline.onCommit((served) => idle.onCommit(served));
pipeline.onCommit((served) => {
  for (const { diversion } of served) {
    if (diversion?.kind === 'accept') process.stdout.write('asleep\n');
    if (diversion?.kind === 'park') process.stdout.write('parked\n');
  }
});
const { signal } = new AbortController();
const service = webService(true);
const accept = () => {
  const annotations = { ...service.metadata?.annotations, [holdAnnotation]: 'accept' };
  objects.setService({ ...service, metadata: { ...service.metadata, annotations } });
};
if (process.argv[2] === 'parked') objects.setService(service);
else accept();
process.on('SIGHUP', accept);
for (const slice of webSlices(false)) objects.setSlice(slice);
objects.synced();
process.on('SIGUSR1', () => {
  for (const slice of webSlices(true)) objects.setSlice(slice);
});
const taken: number[] = [];
process.on('SIGUSR2', () => {
  const isGivingBack = taken.length > 0;
  for (const descriptor of taken.splice(0)) fs.closeSync(descriptor);
  if (!isGivingBack) takeAll();
  // A pipe to the test needs no descriptor.
  process.stdout.write(isGivingBack ? 'given back\n' : 'taken\n');
});
function takeAll(): void {
  for (;;) {
    try {
      taken.push(fs.openSync('/dev/null', 'r'));
    } catch {
      return;
    }
  }
}
await Promise.all([pipeline.run(signal), idle.run(signal)]);
