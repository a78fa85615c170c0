import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { startEmbeddedKubernetes, type EmbeddedKubernetes } from '@causeway/fake-kubernetes/start';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { deployments, endpoints, events, services } from '@causeway/kubernetes/objects/resources';
import { formatTargets, idleAfterAnnotation, idledAt, unidleTargets } from './annotations.ts';
import { idlingSettings } from './settings.ts';
import { UnidlingController } from './unidling-controller.ts';

interface EventCase {
  readonly reason: string;
  /** A part of the message. */
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Annotations of the Endpoints: a very old `oc` writes nothing to the Service. */
  readonly ofEndpoints?: Readonly<Record<string, string>>;
  /** Whether a client connects to the Service. */
  readonly isRequested?: true;
}

const asleep = (targets: string) => ({
  [idledAt]: '2026-01-01T00:00:00Z',
  [unidleTargets]: targets,
});
const target = (name: string) =>
  formatTargets([{ kind: 'Deployment', name, group: 'apps', replicas: 1 }]);

const cases: readonly EventCase[] = [
  {
    reason: 'CannotIdle',
    message: `The annotation ${idleAfterAnnotation}: `,
    annotations: { [idleAfterAnnotation]: 'soon' },
  },
  {
    reason: 'CannotWake',
    message: `the annotation ${unidleTargets} is not JSON.`,
    annotations: asleep('not JSON'),
    isRequested: true,
  },
  {
    reason: 'WakeTargetMissing',
    message: 'does not exist any more.',
    annotations: asleep(target('missing')),
    isRequested: true,
  },
  {
    reason: 'WakeFailed',
    message: 'No object is left that could be started for the Service.',
    annotations: asleep(target('missing')),
    isRequested: true,
  },
  {
    reason: 'IdleMarkRepaired',
    message: 'An old oc marked only the Endpoints of the Service as idle.',
    ofEndpoints: asleep(target('web')),
  },
];

let kubernetes: EmbeddedKubernetes;
let client: KubeClient;
let directory = '';
const recorded: string[] = [];
const stop = new AbortController();
let ended: Promise<void>;

beforeAll(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-idling-'));
  kubernetes = await startEmbeddedKubernetes();
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
  const clock = systemClock;
  const connection = await findConnection({ kubeconfig, env: {}, clock });
  client = new KubeClient({ transport: new HttpTransport(connection, clock), clock });
  await addStoppedDeployment('web');
  for (const example of cases) await addService(example);
  const controller = new UnidlingController({
    client,
    recordEvent: ({ metadata }, { reason, message }) =>
      recorded.push(`${metadata?.name} ${reason}: ${message}`),
    settings: idlingSettings.parse({}),
    workers: 4,
    clock,
    log: discardLog,
    metrics: noMetrics,
  });
  ended = controller.run(stop.signal);
});

afterAll(async () => {
  stop.abort();
  await ended.catch(() => undefined);
  await client.close();
  await kubernetes.stop();
  await fs.rm(directory, { recursive: true });
});

async function addService(example: EventCase): Promise<void> {
  const { reason, annotations = {}, ofEndpoints, isRequested } = example;
  const name = { namespace: 'default', name: reason.toLowerCase() };
  await client.create(services, {
    metadata: { ...name, annotations },
    spec: { ports: [{ port: 80 }] },
  });
  if (ofEndpoints !== undefined) {
    await client.create(endpoints, { metadata: { ...name, annotations: ofEndpoints } });
  }
  if (isRequested === true) {
    await client.create(events, {
      metadata: { namespace: 'default', generateName: `${name.name}-` },
      involvedObject: { kind: 'Service', ...name },
      type: 'Normal',
      reason: 'NeedPods',
      lastTimestamp: '2026-01-02T00:00:00Z',
    });
  }
}

async function addStoppedDeployment(name: string): Promise<void> {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'example/web:1' }];
  await client.create(deployments, {
    metadata: { namespace: 'default', name },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
}

test.each(cases)('$reason is recorded', async ({ reason, message }) => {
  const start = `${reason.toLowerCase()} ${reason}: `;
  await expect
    .poll(() => recorded.filter((event) => event.startsWith(start)).join('\n'))
    .toContain(message);
});
