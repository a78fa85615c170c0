import { afterEach, beforeEach, expect, test } from 'vitest';
import { quickPauses } from '../../../test/openstack/quick-clock.ts';
import { newService, newSlice, OctaviaLab } from '../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../test/octavia/until.ts';
import { endpointSlices, services } from '../../kube/resources.ts';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../sandbox/kubernetes/start.ts';
import { startEmbeddedOpenStack, type EmbeddedOpenStack } from '../../sandbox/openstack/cloud.ts';
import { projectAnnotation } from './annotations.ts';

let kubernetes: EmbeddedKubernetes;
let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
const named = (name: string) => ({ namespace: 'default', name });

beforeEach(async () => {
  kubernetes = await startEmbeddedKubernetes();
  cloud = await startEmbeddedOpenStack();
  const { authUrl, region } = cloud;
  const parts = { ...kubernetes, authUrl, region, cloudOptions: quickPauses };
  lab = await OctaviaLab.open({ ...parts, account: 'admin' });
});

afterEach(async () => {
  await lab.close();
  await cloud.stop();
  await kubernetes.stop();
});

const projectId = (name: string) => cloud.keystone.directory.findProject('default', name)?.id ?? '';

test('load balancers and floating IPs are of the project of the settings, or of one that a Service may choose', async () => {
  const [mine, theirs] = [projectId('demo'), projectId('alt')];
  await lab.start({ project: mine, projects: [theirs] });
  const chosen = { web: {}, mail: { [projectAnnotation]: theirs } };
  for (const [name, annotations] of Object.entries(chosen)) {
    await lab.client.create(services, newService(name, {}, annotations));
    await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1']));
    await untilServed(lab, name);
  }
  expect(await lab.balancers()).toMatchObject([
    { name: 'default/mail', projectId: theirs },
    { name: 'default/web', projectId: mine },
  ]);
  const owners = (await lab.floatingIps()).map((floating) => floating.projectId);
  expect(new Set(owners)).toEqual(new Set([mine, theirs]));
  for (const name of Object.keys(chosen)) {
    await lab.client.delete(services, named(name));
    await until(async () => expect(await lab.service(name)).toBeUndefined());
  }
  expect(await lab.balancers()).toEqual([]);
  expect(await lab.floatingIps()).toEqual([]);
});
