import fs from 'node:fs/promises';
import path from 'node:path';
import type { EmbeddedKubernetes } from '../sandbox/kubernetes/start.ts';
import { runProgram } from '../runtime/program.ts';
import type { Jobs } from './child-process.ts';
import type { NamespaceServers } from './namespace-servers.ts';
import type { Namespaces } from './namespaces.ts';
import { plan } from './plan.ts';

export interface NodeProxyPlan {
  readonly jobs: Jobs;
  readonly directory: string;
  readonly namespaces: Namespaces;
  readonly servers: NamespaceServers;
  readonly kubernetes: EmbeddedKubernetes;
}

const apiPort = 6443;
const name = 'proxy';
/** Run on the node, where the proxy listens. */
const healthScript = `fetch('http://127.0.0.1:10256/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`;

/** The service proxy on the node, in kube-proxy's place. The API's loopback address is brought there. */
export async function startNodeProxy(
  { jobs, directory, namespaces, servers, kubernetes }: NodeProxyPlan,
  signal: AbortSignal,
): Promise<void> {
  const { port } = new URL(kubernetes.url);
  await servers.forward(namespaces.pathOf('node'), apiPort, Number(port));
  const kubeconfig = path.join(directory, 'node-kubeconfig');
  const there = kubernetes.kubeconfig.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${apiPort}`);
  await fs.writeFile(kubeconfig, there, { mode: 0o600 });
  const config = path.join(directory, 'proxy.yaml');
  const settings = {
    kubeconfig,
    nodeName: plan.node.name,
    services: 'all',
    insiders: { networks: [plan.pods.prefix] },
    // That belongs to the machine, and is not ours to change.
    conntrack: { maxPerCore: 0, min: 0 },
    log: { format: 'text' },
  };
  await fs.writeFile(config, JSON.stringify(settings, undefined, 2));
  const exec = namespaces.exec('node');
  jobs.start({ name, words: ['proxy', '--config', config], exec });
  const [program, ...words] = exec;
  const ask = [process.execPath, '-e', healthScript];
  await jobs.until(
    name,
    async () => {
      const { code } = await runProgram(program, [...words, ...ask], { signal });
      return code === 0 ? true : undefined;
    },
    signal,
  );
}
