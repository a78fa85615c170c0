import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIpamServer, type IpamServer } from '../../services/ipam-server.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { runOrThrow } from '../../services/run-program.ts';
import { logTail } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';
import { InstalledCluster, rolesIn, type RunningJob } from './installed-cluster.ts';

const account = 'causeway-system:causeway-controller';
const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);

interface ServiceObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { ip: string }[] } };
}

/** As kubelets show static pods. Before kube-vip announces anything, only this shows it. */
const kubeVip = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'kube-vip-node-1', namespace: 'kube-system' },
  spec: {
    containers: [
      {
        name: 'kube-vip',
        image: 'registry.example/kube-vip/kube-vip:v1.0.0',
        args: ['manager', '--services'],
      },
    ],
  },
};

/** What MetalLB writes for each Service and announcing node, with the fields that Causeway reads. */
const metalLbStatus = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'servicel2statuses.metallb.io' },
  spec: {
    group: 'metallb.io',
    scope: 'Namespaced',
    names: { plural: 'servicel2statuses', singular: 'servicel2status', kind: 'ServiceL2Status' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
};

const balanced = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80 }] },
});

describe.skipIf(!(await isAvailable(prepareKubernetes)))(
  'the pool provider, with exactly the permissions that ship',
  () => {
    let cluster: InstalledCluster;
    let job: RunningJob | undefined;

    let ledger: IpamServer;
    let token = '';
    const file = (name: string) => cluster.file(name);
    const causeway = (...words: string[]) => runOrThrow(process.execPath, [main, ...words]);
    const ipam = (...words: string[]) =>
      runOrThrow(process.execPath, [main, 'ipam', ...words], {
        env: { CAUSEWAY_SERVER: ledger.url, CAUSEWAY_TOKEN_FILE: file('operator.token') },
      });

    beforeAll(async () => {
      cluster = await InstalledCluster.start();
      const at = ['--ledger', `sqlite:${file('ipam.db')}`];
      await causeway('ipam', 'init', ...at, '--credential-file', file('operator.token'));
      ledger = await startIpamServer(cluster.directory, 'ipam', at);
      await ipam('sites', 'set', 'edge', '--quarantine', '1s', '--unconfirmed-quarantine', '5s');
      await ipam('pools', 'set', 'edge', 'public', '--addresses', '192.0.2.0/27');
      const credential = ['--credential-file', file('blue.token')];
      await ipam('clusters', 'create', 'edge', 'blue', ...credential);
      token = await fs.readFile(file('blue.token'), 'utf8');
    });
    afterAll(async () => {
      await job?.stop();
      await ledger?.process.stop();
      await cluster?.stop();
    });
    const find = (name: string) => cluster.get<ServiceObject>('service', name);

    const start = (settings: object) =>
      cluster.run(
        'pool',
        {
          defaultProvider: 'pool',
          driftSeconds: 10,
          pool: {
            servers: [ledger.url],
            site: 'edge',
            cluster: 'blue',
            tokenFile: '/etc/causeway/secrets/ipam.token',
            heartbeatSeconds: 1,
            withdrawalSeconds: 2,
            ...settings,
          },
        },
        { 'ipam.token': token },
      );
    /** The announcers' own annotation, once the Service has an address. */
    const annotated = (name: string, annotation: string) =>
      waitFor(
        `${name} to be annotated`,
        async () => {
          const text = (await find(name)).metadata.annotations?.[annotation];
          if (text === undefined && job !== undefined) throw new Error(logTail(job.logFile));
          return text;
        },
        { timeoutMs: 60_000, intervalMs: 200 },
      );

    test('serves Services with every announcer, and stores its promise', async () => {
      await cluster.install('pool');
      await cluster.apply(kubeVip);
      job = await start({});
      await cluster.apply(balanced('by-kube-vip'));
      await annotated('by-kube-vip', 'kube-vip.io/loadbalancerIPs');
      await cluster.kubectl('delete', 'service', 'by-kube-vip', '--timeout=60s');
      await job.stop();

      await cluster.apply(metalLbStatus);
      await ipam('clusters', 'set', 'edge', 'blue', '--withdraws-after', '1m');
      job = await start({ announcer: 'metallb', selfWithdrawal: true });
      await cluster.apply(balanced('by-metallb'), balanced('unheard'));
      await annotated('by-metallb', 'metallb.io/loadBalancerIPs');
      await annotated('unheard', 'metallb.io/loadBalancerIPs');
      const promise = ['lease', 'causeway-pool-contact', '-n', 'causeway-system'];
      await waitFor('the promise', () => cluster.kubectl('get', ...promise), {
        timeoutMs: 60_000,
        intervalMs: 200,
      });
      await cluster.kubectl('delete', 'service', 'by-metallb', '--timeout=60s');
      // A Service that is deleted during an outage is recorded and released later.
      ledger.process.kill('SIGKILL');
      await ledger.process.exited;
      await cluster.kubectl('delete', 'service', 'unheard', '--timeout=90s');
      await ledger.restart();
      await job.stop();

      job = await start({ announcer: 'plain' });
      await cluster.apply(balanced('plain'));
      await waitFor(
        'an address',
        async () => (await find('plain')).status.loadBalancer.ingress?.[0]?.ip,
        { timeoutMs: 60_000, intervalMs: 200 },
      );
      await cluster.kubectl('delete', 'service', 'plain', '--timeout=60s');
      const roles = rolesIn(await cluster.shipped('pool'));
      await cluster.allUsed(account, roles, [
        // When an Event is repeated, and after a conflict.
        'causeway-controller: patch /events',
        'causeway-controller: get coordination.k8s.io/leases',
      ]);
      await job.stop();
      expect(await cluster.refused(account)).toEqual([]);
    });
  },
);
