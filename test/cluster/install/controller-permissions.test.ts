import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startEmbeddedOpenStack } from '../../../packages/fake-openstack/src/cloud.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { logTail } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';
import {
  InstalledCluster,
  kustomizeFolder,
  objectsOf,
  rolesIn,
  type RunningJob,
} from './installed-cluster.ts';
import { startMemoryGateways, type MemoryGateways } from './memory-gateways.ts';

const account = 'causeway-system:causeway-controller';
/** An Event is patched when it is repeated, a lease is read after a conflict. */
const sometimes = [
  'causeway-controller: patch /events',
  'causeway-controller: get coordination.k8s.io/leases',
];

interface ServiceObject {
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { ip: string }[] } };
}

const balanced = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80 }], ...spec },
});

describe.skipIf(!(await isAvailable(() => prepareKubernetes({ controllerManager: true }))))(
  'the controller, with exactly the permissions that ship',
  () => {
    let cluster: InstalledCluster;
    let job: RunningJob | undefined;
    beforeAll(async () => {
      cluster = await InstalledCluster.start(['endpointslice-controller', 'endpoints-controller']);
      await cluster.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
      const status = {
        addresses: [{ type: 'InternalIP', address: '192.0.2.101' }],
        conditions: [{ type: 'Ready', status: 'True' }],
      };
      const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
      await cluster.kubectl('patch', 'node', 'node-1', ...patch);
    });
    afterAll(() => cluster?.stop());
    beforeEach(() => cluster.resetUses());
    afterEach(async () => {
      await job?.stop();
      job = undefined;
      await cluster.clear();
    });

    const logOf = (running: RunningJob | undefined) =>
      running === undefined ? '' : logTail(running.logFile);
    const find = (name: string) => cluster.get<ServiceObject>('service', name);
    const addressOf = (name: string) =>
      waitFor(
        `an address for ${name}`,
        async () => {
          const { status } = await find(name);
          const ip = status.loadBalancer.ingress?.[0]?.ip;
          if (ip === undefined) throw new Error(`${JSON.stringify(status)}\n${logOf(job)}`);
          return ip;
        },
        { intervalMs: 200 },
      );
    /** Nothing was forbidden, and everything was used. */
    const judge = async (overlay: string, exceptions: readonly string[] = []) => {
      const roles = rolesIn(await cluster.shipped(overlay));
      await cluster.allUsed(account, roles, [...sometimes, ...exceptions]);
      await job?.stop();
      job = undefined;
      expect(await cluster.refused(account)).toEqual([]);
    };

    describe('gateway', () => {
      let gateways: MemoryGateways;
      beforeAll(async () => {
        gateways = await startMemoryGateways(cluster.directory, ['gateway-1', 'gateway-2']);
      });
      afterAll(() => gateways.stop());

      const settings = (layer: string) => ({
        defaultProvider: 'gateway',
        gateway: {
          layer,
          addresses: ['192.0.2.64/28'],
          secretFile: '/etc/causeway/secrets/agents.secret',
          agents: gateways.agents,
        },
      });
      const start = (layer: string) =>
        cluster.run('gateway', settings(layer), { 'agents.secret': gateways.secret });

      test('detects a missing permission', async () => {
        await cluster.install('gateway');
        const everywhere = ['clusterrolebinding', 'causeway-gateway'];
        await cluster.kubectl('delete', ...everywhere);
        await cluster.kubectl('delete', 'rolebinding', 'causeway-gateway', '-n', 'causeway-system');
        const files = { 'agents.secret': gateways.secret };
        job = await cluster.launch('gateway', settings('NodePort'), files);
        await waitFor('a refusal', async () => (await cluster.refused(account)).length > 0);
      });

      test('serves Services', async () => {
        await cluster.install('gateway');
        job = await start('NodePort');
        await cluster.apply(balanced('web'));
        expect(await addressOf('web')).toMatch(/^192\.0\.2\./);
        await cluster.kubectl('delete', 'service', 'web', '--timeout=300s');
        // The UID of the cluster is read for ports of Neutron, not for addresses of a list.
        await judge('gateway', ['causeway-gateway: get /namespaces']);
      });

      test('reads pods and policies in the layer Pod', async () => {
        await cluster.install('gateway');
        const folder = path.join(kustomizeFolder, 'components', 'gateway-pods');
        const file = path.join(folder, 'permissions.yaml');
        await cluster.kubectl('apply', '-f', file);
        job = await start('Pod');
        await cluster.apply(balanced('pods'));
        await addressOf('pods');
        await cluster.kubectl('delete', 'service', 'pods', '--timeout=300s');
        const extra = rolesIn(objectsOf(await fs.readFile(file, 'utf8')));
        await cluster.allUsed(account, extra, []);
        await job.stop();
        expect(await cluster.refused(account)).toEqual([]);
      });
    });

    test('octavia serves Services', async () => {
      const cloud = await startEmbeddedOpenStack({ provisioningDelayMs: 0 });
      try {
        await cluster.install('octavia');
        const subnet = cloud.neutron.subnets.all().find(({ name }) => name === 'private-v4');
        job = await cluster.run(
          'octavia',
          {
            defaultProvider: 'octavia',
            cloud: 'demo',
            driftSeconds: 10,
            octavia: { subnets: [subnet?.id] },
          },
          { 'clouds.yaml': cloud.cloudsYaml },
        );
        // Kuryr manages the Endpoints of its Services; they are released.
        await cluster.apply(balanced('web', { selector: undefined }));
        await cluster.apply({
          apiVersion: 'v1',
          kind: 'Endpoints',
          metadata: { name: 'web', finalizers: ['kuryr.openstack.org/service-finalizer'] },
          subsets: [{ addresses: [{ ip: '192.0.2.201' }], ports: [{ port: 80 }] }],
        });
        await addressOf('web');
        await cluster.kubectl('delete', 'service', 'web', '--timeout=300s');
        await judge('octavia', [
          // Only read after a conflict.
          'causeway-octavia: get /services',
          // Only written if there are orphans.
          'causeway-octavia: create /configmaps',
          'causeway-octavia: patch /configmaps',
        ]);
      } finally {
        await job?.stop();
        await cloud.stop();
      }
    });
  },
);
