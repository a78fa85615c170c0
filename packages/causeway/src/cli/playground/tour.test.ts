import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlaygroundCloud } from '../../playground/start.ts';
import type { ReadyFile } from '../../playground/ready-file.ts';
import { runProgram } from '@causeway/base/process/run-program';
import { startEmbeddedOpenStack, type EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { createByCurl, tour } from './tour.ts';

let embedded: EmbeddedOpenStack;
let cloud: PlaygroundCloud;
beforeAll(async () => {
  embedded = await startEmbeddedOpenStack();
  const { authUrl, loadBalancerUrl, neutron } = embedded;
  const subnet = neutron.subnets.all().find(({ name }) => name === 'private-v4');
  cloud = { authUrl, loadBalancerUrl, subnetId: subnet?.id ?? '' };
});
afterAll(() => embedded.stop());

const nowhere = { netns: null, exec: [] };
const ready: ReadyFile = {
  kubeconfig: '/p/kubeconfig',
  datapath: 'memory',
  client: nowhere,
  gateways: [],
  nodes: [],
  openstack: { clouds: '/p/clouds.yaml', openrc: '/p/openrc' },
  ipam: { url: 'http://127.0.0.1:1', tokenFile: '/p/token' },
  dashboard: { url: 'http://127.0.0.1:2/' },
};
const words = (missing: readonly string[]) =>
  tour(ready, { active: undefined, cloud, why: 'it is a test', missing });

test('names missing programs, and works without an OpenStack client', () => {
  expect(words([])).toContain('openstack loadbalancer create');
  const without = words(['kubectl', 'openstack']);
  expect(without).toContain('programs that are not installed here: kubectl.');
  expect(without).not.toContain('openstack loadbalancer create');
  expect(without).toContain('/v2/lbaas/loadbalancers');
});

test('its replacement creates a load balancer', async () => {
  const { code, stdout } = await runProgram('bash', ['-c', createByCurl(cloud).join('\n')]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('PENDING_CREATE')]);
  expect(embedded.octavia.loadBalancers.all().map(({ name }) => name)).toEqual(['shop']);
});
