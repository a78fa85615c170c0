import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitFor } from '../../services/wait-for.ts';
import type { ServerUnderTest } from './server-under-test.ts';

const merge = 'application/merge-patch+json';
const age = /\b\d+s\b/g;

/** A kubectl that keeps running, with its output lines so far. */
function follow(server: ServerUnderTest, args: readonly string[]) {
  const child = spawn(server.kubectlProgram, ['--kubeconfig', server.kubeconfig, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const lines = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => line.replaceAll(age, '<age>').replaceAll(/ +/g, ' '));
  return {
    lines: (count: number) =>
      waitFor(
        `${count} lines of kubectl ${args.join(' ')}`,
        () => lines().length >= count && lines(),
      ),
    exitCode: async () => {
      if (child.exitCode === null) await once(child, 'exit');
      return child.exitCode;
    },
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** What `kubectl get -w` and `kubectl wait` print during changes. */
export async function transcribeFollowing(server: ServerUnderTest): Promise<object> {
  const namespace = 'following';
  await server.call('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  return {
    watched: await watched(server, namespace),
    waited: await waited(server, namespace),
    gone: await gone(server, namespace),
  };
}

async function watched(server: ServerUnderTest, namespace: string): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  await server.call('POST', path, { body: { metadata: { name: 'a' } } });
  const kubectl = follow(server, [
    '-n',
    namespace,
    'get',
    'configmaps',
    '-w',
    '--output-watch-events',
  ]);
  try {
    await kubectl.lines(2);
    await server.call('POST', path, { body: { metadata: { name: 'b' }, data: { x: '1' } } });
    await server.call('PATCH', `${path}/b`, { body: { data: { y: '2' } }, contentType: merge });
    await server.call('DELETE', `${path}/a`);
    return await kubectl.lines(5);
  } finally {
    await kubectl.stop();
  }
}

const deployment = {
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
    },
  },
};

async function waited(server: ServerUnderTest, namespace: string): Promise<object> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  await server.call('POST', path, { body: deployment });
  const waiting = ['condition=Available', 'jsonpath={.status.replicas}=1'].map((condition) =>
    follow(server, [
      '-n',
      namespace,
      'wait',
      'deployment/web',
      `--for=${condition}`,
      '--timeout=300s',
    ]),
  );
  const time = '2026-01-01T00:00:00Z';
  const condition = {
    type: 'Available',
    status: 'True',
    lastUpdateTime: time,
    lastTransitionTime: time,
  };
  await server.call('PATCH', `${path}/web/status`, {
    body: { status: { replicas: 1, conditions: [condition] } },
    contentType: merge,
  });
  const printed: object[] = [];
  for (const kubectl of waiting) {
    printed.push({ code: await kubectl.exitCode(), lines: await kubectl.lines(1) });
  }
  return printed;
}

/** `kubectl delete` waits for the end of the deletion. */
async function gone(server: ServerUnderTest, namespace: string): Promise<object> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  await server.call('POST', path, {
    body: { metadata: { name: 'held', finalizers: ['example.com/hold'] } },
  });
  const kubectl = follow(server, [
    '-n',
    namespace,
    'delete',
    'configmap',
    'held',
    '--timeout=300s',
  ]);
  await waitFor('the deletion', async () => {
    const { body } = await server.call('GET', `${path}/held`);
    const { metadata } = body as { metadata: { deletionTimestamp?: string } };
    return metadata.deletionTimestamp !== undefined;
  });
  await server.call('PATCH', `${path}/held`, {
    body: { metadata: { finalizers: null } },
    contentType: merge,
  });
  return { code: await kubectl.exitCode(), lines: await kubectl.lines(1) };
}
