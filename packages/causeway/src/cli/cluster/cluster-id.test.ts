import { afterAll, beforeAll, expect, test } from 'vitest';
import { KubeError } from '@causeway/kubernetes/client/error';
import { namespaces } from '@causeway/kubernetes/objects/resources';
import { ProviderLab } from '../../gateway/controller/simulated-provider.testing.ts';
import { Readiness } from '@causeway/base/observability/readiness';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { clusterIdentityOf } from './cluster-id.ts';

const signal = new AbortController().signal;
let lab: ProviderLab;

beforeAll(async () => {
  lab = await ProviderLab.start();
});

afterAll(() => lab.close());

test('uses the clusterId setting and the UID of kube-system', async () => {
  const { metadata } = await lab.client.get(namespaces, { name: 'kube-system' });
  const uid = metadata?.uid;
  expect(uid).toMatch(/^[0-9a-f-]{36}$/);
  const surroundings = { client: lab.client, clock: systemClock, log: discardLog };
  const identityOf = (clusterId: string | undefined) =>
    clusterIdentityOf({ clusterId }, surroundings, new Readiness(), signal);
  expect(await identityOf('prod')).toEqual({ id: 'prod', uid });
  expect(await identityOf(undefined)).toEqual({ id: uid, uid });
});

test('waits and reports the reason without the permission to read it, also with a clusterId', async () => {
  const clock = new SimulatedClock();
  const readiness = new Readiness();
  const logged: string[] = [];
  const log = { ...discardLog, error: (_: object, message: string) => logged.push(message) };
  let isForbidden = true;
  const client = Object.create(lab.client) as typeof lab.client;
  client.get = (...request) =>
    isForbidden
      ? Promise.reject(new KubeError('forbidden', 'namespaces "kube-system" is forbidden'))
      : lab.client.get(...request);
  const identity = clusterIdentityOf(
    { clusterId: 'prod' },
    { client, clock, log },
    readiness,
    signal,
  );
  await expect.poll(() => clock.pendingTimers).toBe(1);
  expect(readiness.report()[0]?.problem).toContain('forbidden');
  expect(logged.join()).toContain("can't be read");
  isForbidden = false;
  clock.fireNext();
  expect((await identity).id).toBe('prod');
  expect(readiness.report()[0]?.problem).toBeUndefined();
});
