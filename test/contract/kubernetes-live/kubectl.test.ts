import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { deployment, service } from '../kubernetes-api/scenarios/scenario.ts';
import { LiveCluster, type Workspace } from './live-cluster.ts';

const withManager = () => prepareKubernetes({ controllerManager: true });

/** The output of kubectl in each cluster, with random names replaced. */
const said: Record<string, Record<string, string>> = {};

const hash = /-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b/g;

describe.runIf(await isAvailable(withManager)).each([
  ['embedded', () => LiveCluster.embedded()],
  ['real', () => LiveCluster.real()],
] as const)('kubectl on the %s live cluster', (label, start) => {
  let cluster: LiveCluster;
  let space: Workspace;

  beforeAll(async () => {
    cluster = await start();
    space = await cluster.workspace('kubectl');
  });

  afterAll(async () => {
    await cluster.server.stop();
  });

  /** Runs kubectl with a simulated kubelet; returns when it has ended. */
  async function kubectl(args: string, input?: string): Promise<string> {
    let isOver = false;
    const run = cluster.server
      .kubectl(['--namespace', 'kubectl', ...args.split(' ')], input)
      .finally(() => {
        isOver = true;
      });
    await space.runPodsUntil(`kubectl ${args} to end`, () => Promise.resolve(isOver));
    const { code, stdout, stderr } = await run;
    expect(code, stderr).toBe(0);
    return stdout;
  }

  async function hear(args: string, input?: string): Promise<void> {
    const text = await kubectl(args, input);
    const earlier = said[label] ?? {};
    // The progress of a rollout at kubectl's first read is random; its end is not.
    const lines = args.startsWith('rollout status') ? text.trim().split('\n').slice(-1) : [text];
    said[label] = { ...earlier, [args]: lines.join('\n').replaceAll(hash, '-<hash>') };
  }

  test('rolls out, waits, undoes and deletes', async () => {
    const manifests = [
      deployment('web', { replicas: 3 }),
      service('web', { selector: { app: 'web' }, ports: [{ port: 80 }] }),
    ];
    await hear('apply -f -', manifests.map((one) => stringify(one)).join('---\n'));
    await hear('rollout status deployment/web --timeout=300s');
    await hear('wait --for=condition=Available deployment/web --timeout=300s');
    await hear('set image deployment/web main=example/web:2');
    await hear('rollout status deployment/web --timeout=300s');
    await hear('rollout history deployment/web');
    await hear('rollout undo deployment/web');
    await hear('rollout status deployment/web --timeout=300s');
    await hear('scale deployment/web --replicas=1');
    await hear('wait --for=jsonpath={.status.replicas}=1 deployment/web --timeout=300s');
    await hear(
      'get deployments,replicasets --no-headers -o custom-columns=KIND:.kind,WANTED:.spec.replicas,READY:.status.readyReplicas',
    );
    await hear('delete deployment/web --cascade=foreground --timeout=300s');
    await hear('get pods --ignore-not-found');
  });

  test('deletes a namespace with its objects', async () => {
    await hear('delete namespace/kubectl --timeout=300s');
    const { code } = await cluster.server.kubectl(['get', 'namespace/kubectl']);
    expect(code).toBe(1);
  });
});

test.runIf(await isAvailable(withManager))('kubectl prints the same in both', () => {
  expect(said['embedded']).toEqual(said['real']);
});
