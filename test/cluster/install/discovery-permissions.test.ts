import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../../packages/fake-openstack/src/cloud.ts';
import { loadBalancer, projectId } from '../../discovery/embedded-world.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { InstalledCluster, rolesIn, type RunningJob } from './installed-cluster.ts';

const account = 'causeway-system:causeway-discovery';
interface Objects {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly uid: string } }[];
}

describe.skipIf(!(await isAvailable(prepareKubernetes)))(
  'discovery, with exactly the permissions that ship',
  () => {
    let cluster: InstalledCluster;
    let cloud: EmbeddedOpenStack;
    let job: RunningJob | undefined;
    beforeAll(async () => {
      cluster = await InstalledCluster.start();
      cloud = await startEmbeddedOpenStack({ provisioningDelayMs: 0 });
      await cluster.install('discovery');
      await cluster.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'causeway-discovery-cloud', namespace: 'causeway-system' },
        stringData: {
          keystoneUrl: cloud.authUrl,
          username: 'demo',
          password: 'demo',
          userDomain: 'Default',
          region: cloud.region,
        },
      });
    });
    afterAll(async () => {
      await job?.stop();
      await Promise.all([cluster?.stop(), cloud?.stop()]);
    });

    const start = (endpointsKind: string) =>
      cluster.run('discovery', {
        backendName: 'east',
        secret: 'causeway-system/causeway-discovery-cloud',
        intervalSeconds: 1,
        maxLossShare: 1,
        endpointsKind,
      });
    const objects = async (kind: string) =>
      (await cluster.get<Objects>(kind, '-n', 'demo', '-l', 'causeway.dev/backend=east')).items;
    const become = (kind: string, count: number) =>
      waitFor(`${count} ${kind}`, async () => (await objects(kind)).length === count, {
        timeoutMs: 60_000,
        intervalMs: 200,
      });
    const add = (name: string, address: string) =>
      cloud.addLoadBalancer(projectId(cloud, 'demo'), loadBalancer(cloud, name, [address]));
    const remove = (id: string) => {
      const { loadBalancers, listeners, pools } = cloud.octavia;
      for (const table of [listeners, pools]) {
        for (const row of table.all()) if (row.loadbalancer_id === id) table.delete(row.id);
      }
      loadBalancers.delete(id);
    };

    test.each([
      ['EndpointSlice', 'endpointslices'],
      ['Endpoints', 'endpoints'],
    ])('writes, changes and removes Services with %s', async (endpointsKind, plural) => {
      job = await start(endpointsKind);
      const { id } = add('web', '10.10.0.5');
      await become('services', 1);
      await become(plural, 1);
      // Both are changed from outside: discovery restores them.
      const [name = ''] = (await objects('services')).map(({ metadata }) => metadata.name);
      const [slice = ''] = (await objects(plural)).map(({ metadata }) => metadata.name);
      const right = async (kind: string, object: string) => {
        await cluster.kubectl('annotate', kind, object, '-n', 'demo', 'causeway.dev/stranger=1');
        await waitFor(
          `${kind} to be as it was`,
          async () =>
            !(await cluster.kubectl('get', kind, object, '-n', 'demo', '-o', 'yaml')).includes(
              'stranger',
            ),
          { timeoutMs: 60_000, intervalMs: 200 },
        );
      };
      await right('services', name);
      await right(plural, slice);
      remove(id);
      await become('services', 0);
      await become(plural, 0);
      await job.stop();
      job = undefined;
    });

    test('nothing was forbidden, and every permission was used', async () => {
      const roles = rolesIn(await cluster.shipped('discovery'));
      await cluster.allUsed(account, roles, [
        // An Event is patched when it is repeated.
        'causeway-discovery: patch /events',
        'causeway-discovery: create /events',
        // Read when another writer was faster.
        'causeway-discovery: get coordination.k8s.io/leases',
        'causeway-discovery: get /services',
        'causeway-discovery: get /endpoints',
        'causeway-discovery: get discovery.k8s.io/endpointslices',
      ]);
      expect(await cluster.refused(account)).toEqual([]);
    });
  },
);
