import fs from 'node:fs/promises';
import { startEmbeddedKubernetes } from '../packages/fake-kubernetes/src/start.ts';
import type { ClusterApi } from '../packages/fake-kubernetes/src/cluster-api.ts';
import { CommandLab } from '../test/kernel/proxy/command-lab.ts';
import { ensureProgram } from '../test/services/programs.ts';
import { removeDirectory, scratchDirectory } from '../test/services/scratch.ts';
import { logTail, type ServiceProcess } from '../test/services/service-process.ts';

import { HopelessError, waitFor } from '../test/services/wait-for.ts';
import type { BenchmarkSuite } from './benchmark.ts';
import { compileProgram } from './compiled-program.ts';

const count = 5_000;
const podsEach = 2;
/** Long enough for both to notice that they are idle, or to collect garbage. */
const idleMs = 30_000;
const megabyte = 1_000_000;
const fields = { conntrack: { maxPerCore: 0, min: 0 } };

/**
 * Causeway's proxy, compiled as released, compared with the real kube-proxy: both on one node with 5,000
 * Services.
 */
export const suite: BenchmarkSuite<'proxy-resident'> = {
  name: 'proxy-memory',
  long: true,
  bars: {
    'proxy-resident': { of: 'ratio', comparison: 'at most', limit: 1, unit: 'MB' },
  },
  async run() {
    const directory = await scratchDirectory('bench-proxy-memory');
    const lab = await CommandLab.create(startFilledApi);
    try {
      const program = await compileProgram(directory);
      const theirs = await lab.startKubeProxy(await ensureProgram('kube-proxy'), fields);
      const baseline = await resident(
        lab,
        theirs,
        /kubeproxy_sync_proxy_rules_last_timestamp_seconds(?:\{[^}]*\})? [1-9]/,
      );
      for (const family of ['ip', 'ip6']) {
        await lab.lab.host('node').run('nft', 'delete', 'table', family, 'kube-proxy');
      }
      const ours = await lab.startCompiled(program, fields, '--services=all');
      const value = await resident(lab, ours, /causeway_proxy_last_sync_timestamp_seconds [1-9]/);
      return { 'proxy-resident': { value, baseline } };
    } finally {
      await lab.remove();
      await removeDirectory(directory);
    }
  },
};

/** In MB, when it has served everything and has been idle for a while. */
async function resident(lab: CommandLab, proxy: ServiceProcess, served: RegExp): Promise<number> {
  await waitFor('the rules of all Services', async () => {
    if (!proxy.isRunning()) throw new HopelessError(logTail(lab.logFile));
    return served.test((await lab.get('http://127.0.0.1:10249/metrics')).body);
  });
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  const status = await fs.readFile(`/proc/${proxy.pid}/status`, 'utf8');
  await proxy.stop();
  return (Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024) / megabyte;
}

async function startFilledApi() {
  const api = await startEmbeddedKubernetes();
  fill(api.cluster);
  return api;
}

function fill(cluster: ClusterApi): void {
  for (let number = 0; number < count; number += 1) {
    const namespace = `bench-${number % 100}`;
    if (number < 100) {
      cluster.create('namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace },
      });
    }
    const name = `service-${number}`;
    const service = cluster.create('services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name, labels: { app: name } },
      spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    });
    const owner = { apiVersion: 'v1', kind: 'Service', name, uid: service.metadata.uid };
    cluster.create('endpointslices.discovery.k8s.io', {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      addressType: 'IPv4',
      metadata: {
        namespace,
        name: `${name}-abcde`,
        labels: {
          app: name,
          'kubernetes.io/service-name': name,
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      },
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: Array.from({ length: podsEach }, (_, index) =>
        endpoint(name, namespace, number * podsEach + index),
      ),
    });
  }
}

function endpoint(service: string, namespace: string, number: number) {
  const name = `${service}-6d8f9c7b5-${number.toString(36).padStart(5, '0')}`;
  const uid = `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
  return {
    addresses: [`10.1.${64 + (number >> 8)}.${number & 255}`],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: `node${1 + (number % 20)}`,
    zone: 'a',
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}
