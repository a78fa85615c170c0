import fs from 'node:fs/promises';
import path from 'node:path';
import { parsePrefix } from '../domain/prefix.ts';
import { MemoryPodRunner } from '../sandbox/kubernetes/controllers/memory-pod-runner.ts';
import { startEmbeddedKubernetes } from '../sandbox/kubernetes/start.ts';
import { addNode } from './node.ts';
import { plan } from './plan.ts';
import { playScenario } from './scenario.ts';
import type { Playground, PlaygroundOptions } from './start.ts';

/** The embedded Kubernetes API alone, where the machine allows no namespaces. Pods run in name only. */
export async function startInMemory(
  { directory, port, scenario, clock }: PlaygroundOptions,
  signal: AbortSignal,
): Promise<Playground> {
  const runner = new MemoryPodRunner([parsePrefix(plan.pods.prefix)], plan.node.address);
  const controllers = { schedulesPods: true, runner };
  const kubernetes = await startEmbeddedKubernetes({ port, controllers });
  try {
    addNode(kubernetes.cluster);
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, kubernetes.kubeconfig, { mode: 0o600 });
    if (scenario !== undefined) {
      await playScenario(scenario, { kubeconfig, cloud: undefined, clock }, signal);
    }
    return { ready: { kubeconfig, datapath: 'memory' }, stop: () => kubernetes.stop() };
  } catch (error) {
    await kubernetes.stop();
    throw error;
  }
}
