import fs from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpointSlices, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../../packages/fake-openstack/src/cloud.ts';
import { newService, newSlice, OctaviaLab } from '../../octavia/lab.ts';
import { until, untilServed } from '../../octavia/until.ts';
import { quickPauses } from '../../openstack/quick-clock.ts';
import {
  prepareKubernetes,
  startKubernetes,
  type RealKubernetes,
} from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';

const available = await isAvailable(() => prepareKubernetes());
const patienceMs = 300_000;

/** Like the EndpointSlice controller: a hundred in each. */
function slicesOf(count: number) {
  const addresses = Array.from(
    { length: count },
    (_, index) => `10.10.${Math.floor(index / 250)}.${index % 250}`,
  );
  return Array.from({ length: Math.ceil(count / 100) }, (_, index) => {
    const slice = newSlice('large', addresses.slice(index * 100, index * 100 + 100));
    const endpoints = (slice.endpoints ?? []).map((endpoint, place) => ({
      ...endpoint,
      targetRef: { ...endpoint.targetRef, name: `large-7d9f8b6c5d-${index}-${place}` },
    }));
    return { ...slice, metadata: { ...slice.metadata, name: `large-${index}` }, endpoints };
  });
}

describe.skipIf(!available)('a Service with more members than one object can hold', () => {
  let kubernetes: RealKubernetes;
  let cloud: EmbeddedOpenStack;
  let lab: OctaviaLab;

  beforeAll(async () => {
    [kubernetes, cloud] = await Promise.all([startKubernetes(), startEmbeddedOpenStack()]);
    const kubeconfig = await fs.readFile(kubernetes.kubeconfig, 'utf8');
    const { authUrl, region } = cloud;
    lab = await OctaviaLab.open({ kubeconfig, authUrl, region, cloudOptions: quickPauses });
  });

  afterAll(async () => {
    await lab?.close();
    await Promise.all([cloud?.stop(), kubernetes?.stop()]);
  });

  test('is served with all members, and a restart writes nothing', async () => {
    const count = 5_000;
    for (const slice of slicesOf(count)) await lab.client.create(endpointSlices, slice);
    await lab.start();
    await lab.client.create(services, newService('large'));
    await untilServed(lab, 'large', patienceMs);
    await until(() => expect(cloud.octavia.members.all()).toHaveLength(count), patienceMs);
    await until(
      async () => expect((await lab.klb('large'))?.status?.members_left_out).toBe(count),
      patienceMs,
    );
    await lab.stop();
    const writes: string[] = [];
    const end = cloud.onRequest(({ method, path }) => {
      if (method !== 'GET' && path.includes('/lbaas/')) writes.push(`${method} ${path}`);
    });
    await lab.start();
    await lab.client.create(services, newService('small'));
    await lab.client.create(endpointSlices, newSlice('small', ['10.10.1.1']));
    await untilServed(lab, 'small', patienceMs);
    await untilServed(lab, 'large', patienceMs);
    end();
    expect(writes).toHaveLength(1);
  });
});
