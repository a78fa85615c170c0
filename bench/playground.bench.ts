import fs from 'node:fs/promises';
import path from 'node:path';
import { startKubernetes } from '../test/services/kubernetes.ts';
import { removeDirectory, scratchDirectory } from '../test/services/scratch.ts';
import { startPlayground } from '../test/product/running-playground.ts';
import { compare, type BenchmarkSuite } from './benchmark.ts';

const repeats = 5;

/** The whole playground, compared with a bare etcd and kube-apiserver until `/readyz` answers. */
export const suite: BenchmarkSuite<'playground-ready'> = {
  name: 'playground',
  long: true,
  bars: { 'playground-ready': { of: 'ratio', comparison: 'at most', limit: 3, unit: 'ms' } },
  async run() {
    return { 'playground-ready': await compare(repeats, playgroundReady, kubernetesReady) };
  },
};

async function playgroundReady(): Promise<number> {
  const directory = await scratchDirectory('bench-playground');
  try {
    const started = performance.now();
    const playground = await startPlayground({ directory });
    const { birthtimeMs } = await fs.stat(path.join(directory, 'ready.json'));
    const elapsed = birthtimeMs - (performance.timeOrigin + started);
    playground.kill('SIGTERM');
    await playground.exited;
    return elapsed;
  } finally {
    await removeDirectory(directory);
  }
}

async function kubernetesReady(): Promise<number> {
  const started = performance.now();
  const kubernetes = await startKubernetes();
  const elapsed = performance.now() - started;
  await kubernetes.stop();
  return elapsed;
}
