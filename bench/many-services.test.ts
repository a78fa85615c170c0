import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KubeClient } from '../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../packages/kubernetes/src/client/connection.ts';
import { HttpTransport } from '../packages/kubernetes/src/client/http-transport.ts';
import { endpointSlices } from '../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { startEmbeddedKubernetes } from '../packages/fake-kubernetes/src/start.ts';
import { removeDirectory, scratchDirectory } from '../test/services/scratch.ts';
import { ManyServices } from './many-services.ts';

let directory = '';
let client: KubeClient;
let stop: () => Promise<void>;
beforeAll(async () => {
  directory = await scratchDirectory('many-services');
  const kubernetes = await startEmbeddedKubernetes();
  stop = () => kubernetes.stop();
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  const transport = new HttpTransport(connection, systemClock);
  client = new KubeClient({ transport, clock: systemClock });
});
afterAll(async () => {
  await client.close();
  await stop();
  await removeDirectory(directory);
});

async function endpoints(): Promise<string[]> {
  const found = await Promise.all(
    [0, 1, 2].map((at) => client.get(endpointSlices, { namespace: 'default', name: `many-${at}` })),
  );
  return found.map((slice) =>
    (slice.endpoints ?? []).flatMap(({ addresses }) => addresses).join(' '),
  );
}

test('each change replaces an endpoint of the next Service, and zero changes change nothing', async () => {
  const many = new ManyServices(client, 3);
  await many.create();
  const first = await endpoints();
  await many.change(100, 0.03);
  const second = await endpoints();
  await many.change(100, 0.03);
  const third = await endpoints();
  for (const at of [0, 1, 2]) {
    expect(new Set([first[at], second[at], third[at]]).size).toBe(3);
    expect(second[at]?.split(' ')[0]).toBe(first[at]?.split(' ')[0]);
  }
});
