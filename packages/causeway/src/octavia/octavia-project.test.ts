import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { projectAnnotation } from './annotations.ts';

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;
const named = (name: string) => ({ namespace: 'default', name });

beforeEach(async () => {
  ({ cloud, lab, stop } = await openEmbeddedLab({}, 'admin'));
});

afterEach(() => stop());

const projectId = (name: string) => cloud.keystone.directory.findProject('default', name)?.id ?? '';

test('load balancers and floating IPs belong to the configured project, or to one that a Service may choose', async () => {
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
