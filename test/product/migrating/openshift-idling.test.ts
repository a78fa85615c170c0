import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { idledAt, unidleTargets } from '../../../packages/causeway/src/idling/annotations.ts';
import { ensureDebianPackages } from '../../services/debian-packages.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { waitFor } from '../../services/wait-for.ts';
import {
  addressOf,
  fetchFrom,
  kubectlFor,
  startPlayground,
  type RunningPlayground,
} from '../running-playground.ts';
import { MigrationPage } from './migration-page.ts';
import { stubDeployment } from './stub-objects.ts';
import { Terminal } from './terminal.ts';

vi.setConfig({ testTimeout: 900_000 });
const packages = ['conntrack', 'curl', 'iproute2', 'keepalived', 'nftables', 'procps'];
const available = await isAvailable(async () => {
  await ensureDebianPackages([...packages, 'util-linux']);
  await ensureProgram('kubectl');
});

/** With a real proxy on each node and real packets, as in the playground. */
describe.skipIf(!available)("moving from OpenShift's idling", () => {
  const page = new MigrationPage('openshift-idling');
  let directory = '';
  let playground: RunningPlayground;
  let terminal: Terminal;
  let ask: ReturnType<typeof kubectlFor>;

  beforeAll(async () => {
    directory = await scratchDirectory('openshift');
    playground = await startPlayground({ directory });
    expect(playground.ready.datapath).toBe('kernel');
    terminal = await Terminal.open({ KUBECONFIG: playground.ready.kubeconfig });
    ask = kubectlFor(await ensureProgram('kubectl'), playground);
    for (const name of ['web', 'old']) {
      const deployment = await terminal.write(`${name}.json`, stubDeployment('default', name));
      await ask('apply', '-f', deployment);
      const expose = ['--type=LoadBalancer', '--port=80', '--target-port=8080'];
      await ask('expose', 'deployment', name, ...expose);
      await answers(name);
    }
  });
  afterAll(async () => {
    playground.kill('SIGINT');
    await playground.exited;
    await terminal.close();
    await removeDirectory(directory);
  });

  const answers = async (name: string) =>
    fetchFrom(playground, playground.ready.client, await addressOf(ask, 'default', name));
  const untilAsleep = (name: string) =>
    waitFor(`${name} to have no pods`, async () => {
      const left = await ask('get', 'pods', '-l', `app=${name}`, '--no-headers');
      return left === '';
    });
  /** Requests carry whole seconds: a request in the second of the idling would end it. */
  const untilRequestsArePast = () =>
    waitFor('the second of the last request to be over', async () => {
      const wanted = ['reason=NeedPods', '-o', 'jsonpath={.items[*].lastTimestamp}'];
      const times = await ask('get', 'events', '--field-selector', ...wanted);
      return times.split(' ').every((time) => time === '' || Date.parse(time) + 1000 < Date.now());
    });
  /** What `oc idle` writes; a very old one writes only to the Endpoints. */
  const idleAsOc = async (name: string, isVeryOld: boolean) => {
    await untilRequestsArePast();
    const since = `${new Date().toISOString().slice(0, 19)}Z`;
    const target = { kind: 'Deployment', name, group: 'apps', replicas: 1 };
    const marks = [`${idledAt}=${since}`, `${unidleTargets}=${JSON.stringify([target])}`];
    for (const kind of isVeryOld ? ['endpoints'] : ['endpoints', 'service']) {
      await ask('annotate', kind, name, ...marks);
    }
    await ask('scale', 'deployment', name, '--replicas=0');
    await untilAsleep(name);
  };

  page.step('Steps', 1, async ({ commands: [list = ''] }) => {
    await idleAsOc('web', false);
    await idleAsOc('old', true);
    const text = await terminal.run(list);
    for (const name of ['web', 'old']) {
      expect(text).toMatch(new RegExp(`default +${name} +20\\S+Z +Deployment ${name} × 1`));
    }
  });

  page.step('Steps', 2, async () => {
    for (const { exec } of playground.ready.nodes) {
      const { stdout } = await playground.run(exec, 'nft', 'list', 'tables');
      expect(stdout).toContain('causeway-proxy');
    }
  });

  page.step('Steps', 3, async () => {
    // Both controllers at once: OpenShift's removes the mark as soon as it has scaled.
    const waiting = answers('web');
    await ask('scale', 'deployment', 'web', '--replicas=1');
    for (const kind of ['service', 'endpoints']) {
      await ask('annotate', kind, 'web', `${idledAt}-`, `${unidleTargets}-`);
    }
    expect(await waiting).toMatch(/^web-\S+ saw /);
    await idleAsOc('web', false);
  });

  page.step('Steps', 4, async ({ commands: [events = ''] }) => {
    expect(await answers('web')).toMatch(/^web-\S+ saw /);
    await waitFor('the Event', async () =>
      /service\/web +The Service has ready pods again after [\d.]+ s/.test(
        await terminal.run(events),
      ),
    );
  });

  page.step('The way back', 1, async () => {
    await terminal.run('causeway idle web');
    await untilAsleep('web');
    const { metadata } = JSON.parse(await ask('get', 'service', 'web', '-o', 'json')) as {
      metadata: { annotations: Record<string, string> };
    };
    const [target] = JSON.parse(metadata.annotations[unidleTargets] ?? '[]') as object[];
    expect(target).toMatchObject({ kind: 'Deployment', name: 'web', replicas: 1 });
    expect(Date.parse(metadata.annotations[idledAt] ?? '')).toBeGreaterThan(0);
  });

  page.step('The way back', 2, async ({ commands: [wake = ''] }) => {
    await terminal.run(wake);
    for (const name of ['web', 'old']) expect(await answers(name)).toMatch(/ saw /);
    expect((await terminal.run('causeway idle list -A')).trim().split('\n')).toHaveLength(1);
  });

  page.end();
});
