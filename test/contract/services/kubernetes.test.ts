import fs from 'node:fs';
import { expect, test } from 'vitest';
import { isAvailable } from '../../services/missing.ts';
import { prepareKubernetes, startKubernetes } from '../../services/kubernetes.ts';
import { ensureProgram } from '../../services/programs.ts';
import { isAlive } from '../../services/scratch.ts';
import { runOrThrow } from '../../services/run-program.ts';

const available = await isAvailable(() => prepareKubernetes());

test.skipIf(!available)(
  'a real kube-apiserver serves kubectl, restarts, and leaves nothing behind',
  async () => {
    const cluster = await startKubernetes();
    const kubectl = await ensureProgram('kubectl');
    const ask = (...args: string[]) =>
      runOrThrow(kubectl, args, { env: { KUBECONFIG: cluster.kubeconfig } });
    expect(await ask('create', 'namespace', 'before')).toContain('created');
    await cluster.restart();
    expect(await ask('get', 'namespace', 'before', '-o', 'name')).toBe('namespace/before\n');
    const etcdPid = cluster.etcd.process.pid;
    await cluster.stop();
    expect(isAlive(etcdPid)).toBe(false);
    expect(fs.existsSync(cluster.directory)).toBe(false);
  },
);
