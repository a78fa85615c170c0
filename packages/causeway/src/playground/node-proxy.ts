import fs from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '@causeway/base/process/run-program';
import type { Jobs } from './child-process.ts';
import type { DataPath } from './data-path.ts';
import { plans, type PlannedNode } from './plan.ts';

export interface NodeProxyPlan {
  readonly jobs: Jobs;
  readonly directory: string;
  readonly dataPath: DataPath;
  readonly kubernetes: { readonly kubeconfig: string; readonly url: string };
}

/** Runs on the node, where the proxy listens. */
const healthScript = `fetch('http://127.0.0.1:' + process.argv[1] + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`;

/**
 * The service proxy on a node, in place of kube-proxy. The API's loopback address is made reachable there.
 */
export async function startNodeProxy(
  node: PlannedNode,
  { jobs, directory, dataPath, kubernetes }: NodeProxyPlan,
  signal: AbortSignal,
): Promise<void> {
  const job = `proxy-${node.name}`;
  const { port } = new URL(kubernetes.url);
  const there = await dataPath.bringPort(node, Number(port));
  const kubeconfig = path.join(directory, `${job}-kubeconfig`);
  const text = kubernetes.kubeconfig.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${there}`);
  await fs.writeFile(kubeconfig, text, { mode: 0o600 });
  const own = await dataPath.proxySettings(node);
  const config = path.join(directory, `${job}.yaml`);
  const settings = {
    kubeconfig,
    nodeName: node.name,
    services: 'all',
    insiders: { networks: plans.map(({ pods }) => pods.prefix) },
    // These settings belong to the host and must not change.
    conntrack: { maxPerCore: 0, min: 0 },
    log: { format: 'text' },
    ...own,
  };
  await fs.writeFile(config, JSON.stringify(settings, undefined, 2));
  const exec = dataPath.words(node.name);
  jobs.start({ name: job, words: ['proxy', '--config', config], exec });
  const ask = [process.execPath, '-e', healthScript, String(own.health.port)];
  const [program = '', ...words] = [...exec, ...ask];
  await jobs.until(
    job,
    async () => {
      const { code } = await runProgram(program, words, { signal });
      return code === 0 ? true : undefined;
    },
    signal,
  );
}
