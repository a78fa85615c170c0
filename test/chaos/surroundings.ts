import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { startKubernetes } from '../services/kubernetes.ts';
import { startOpenStack } from '../services/openstack.ts';
import { revokeTokensOf } from './revoke-tokens.ts';
import { SerialQueue } from '../../packages/base/src/work/serial-queue.ts';

/** A cluster and a cloud outside of Causeway, with their faults. */
export interface Surroundings {
  /** Configuration texts, for clients without faults. */
  readonly kubeconfig: string;
  readonly cloudsYaml: string;
  readonly networkUrl: string;
  readonly loadBalancerUrl: string;
  restartKubernetes(): Promise<void>;
  /** Like a compaction of etcd: watches that fall behind have to list again. */
  dropHistory(): Promise<void>;
  revokeTokens(): Promise<void>;
  /** The network service hardly answers until the returned function is called. */
  suspendCloud(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

type Place = Pick<Surroundings, 'kubeconfig' | 'cloudsYaml' | 'networkUrl' | 'loadBalancerUrl'>;

export function startSurroundings(on: 'embedded' | 'real'): Promise<Surroundings> {
  return on === 'embedded' ? startEmbedded() : startReal();
}

async function startEmbedded(): Promise<Surroundings> {
  const script = path.join(import.meta.dirname, 'programs', 'embedded-services.ts');
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the embedded services have ended');
    return JSON.parse(value) as unknown;
  };
  const place = (await answer()) as Place;
  // One command at a time, so that each command gets its own answer.
  const commands = new SerialQueue();
  const send = async (command: string) => {
    await commands.run(() => {
      child.stdin.write(`${command}\n`);
      return answer();
    });
  };
  return {
    ...place,
    restartKubernetes: () => send('restart kubernetes'),
    dropHistory: () => send('drop history'),
    revokeTokens: () => send('revoke tokens'),
    async suspendCloud() {
      await send('suspend cloud');
      return () => send('resume cloud');
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

async function startReal(): Promise<Surroundings> {
  const starting = [startKubernetes(), startOpenStack()] as const;
  const started = await Promise.allSettled(starting);
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    for (const one of started) if (one.status === 'fulfilled') await one.value.stop();
    throw failed.reason;
  }
  const [kubernetes, openstack] = await Promise.all(starting);
  return {
    kubeconfig: await fs.readFile(kubernetes.kubeconfig, 'utf8'),
    cloudsYaml: await fs.readFile(openstack.cloudsYaml, 'utf8'),
    networkUrl: openstack.networkUrl,
    loadBalancerUrl: openstack.loadBalancerUrl,
    restartKubernetes: () => kubernetes.restart('SIGKILL'),
    dropHistory: () => kubernetes.etcd.compact(),
    revokeTokens: () => revokeTokensOf('demo', openstack.authUrl),
    async suspendCloud() {
      const resume = await openstack.suspend('neutron');
      return () => Promise.resolve(resume());
    },
    async stop() {
      await Promise.all([openstack.stop(), kubernetes.stop()]);
    },
  };
}
