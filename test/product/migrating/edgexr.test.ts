import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import { freePort } from '../../services/free-port.ts';
import { startIpamServer, type IpamServer } from '../../services/ipam-server.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import type { ServiceProcess } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';
import { repository } from '../running-playground.ts';
import { MigrationPage } from './migration-page.ts';
import { stubDeployment, stubNamespace } from './stub-objects.ts';
import { Terminal } from './terminal.ts';

const kubeVip = 'kube-vip.io/loadbalancerIPs';
const hasKubectl = await isAvailable(() => ensureProgram('kubectl'));

describe.skipIf(!hasKubectl)('moving from EdgeXR', () => {
  const page = new MigrationPage('edgexr');
  let kubernetes: Awaited<ReturnType<typeof startEmbeddedKubernetes>>;
  let terminal: Terminal;
  let server: IpamServer;
  let controller: ServiceProcess | undefined;

  beforeAll(async () => {
    kubernetes = await startEmbeddedKubernetes();
    terminal = await Terminal.open({});
    await terminal.write('kubeconfig', kubernetes.kubeconfig);
    const items = [
      stubNamespace('shop'),
      stubNamespace('causeway-system'),
      stubDeployment('causeway-system', 'causeway-controller'),
      service('web', { [kubeVip]: '192.0.2.11' }),
    ];
    await terminal.write('before.json', { apiVersion: 'v1', kind: 'List', items });
    await run('kubectl apply -f before.json');
    await announce('web', '192.0.2.11');
  });
  afterAll(async () => {
    await controller?.stop();
    await server.process.stop();
    await terminal.close();
    await kubernetes.stop();
  });

  const run = (line = '', more: Record<string, string> = {}) =>
    terminal.run(line, {
      KUBECONFIG: terminal.file('kubeconfig'),
      CAUSEWAY_SERVER: server?.url ?? '',
      CAUSEWAY_TOKEN_FILE: terminal.file('operator.token'),
      ...more,
    });
  /** What kube-vip writes once it announces. */
  const announce = async (name: string, ip: string) => {
    const patch = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip }] } } });
    const words = `kubectl patch service ${name} -n shop --subresource=status --type=merge`;
    await run(`${words} -p '${patch}'`);
  };
  const wanted = async (name: string) => {
    const text = await run(`kubectl get service ${name} -n shop -o json`);
    const { metadata } = JSON.parse(text) as {
      metadata: { annotations: Record<string, string> };
    };
    return metadata.annotations;
  };

  page.step('Steps', 1, async () => {
    expect(await wanted('web')).toMatchObject({ [kubeVip]: '192.0.2.11' });
  });

  page.step('Steps', 2, async () => {
    const text = await fs.readFile(path.join(repository, 'docs', 'ipam.md'), 'utf8');
    const [, shape = ''] = /```json\n(\{\n {2}"cloudlet"[^]*?)```/.exec(text) ?? [];
    expect(JSON.parse(shape)).toMatchObject({ cloudlet: 'edge-1' });
    await terminal.write('edge-1.json', shape);
  });

  page.step('Steps', 3, async ({ commands: [take] }) => {
    const ledger = ['--ledger', `sqlite:${terminal.file('ipam.db')}`];
    await run(`causeway ipam init ${ledger.join(' ')} --credential-file operator.token`);
    server = await startIpamServer(terminal.directory, 'ipam', ledger);
    await fs.mkdir(terminal.file('tokens'));
    const right = await fs.readFile(terminal.file('edge-1.json'), 'utf8');
    const also = '{ "namespace": "shop", "name": "other", "ipv4": "192.0.2.11" }';
    await terminal.write('edge-1.json', right.replace('"loadBalancers": [', `$&${also}, `));
    await expect(run(take)).rejects.toThrow(/both shop\/other of blue and shop\/web of blue/);
    await terminal.write('edge-1.json', right);
    await run(take);
    expect(await run(take)).toBe('1 clusters taken over\n');
    expect(await fs.readdir(terminal.file('tokens'))).toEqual(['blue.token']);
  });

  page.step('Steps', 4, async ({ commands: [pools, clusters, whoHas] }) => {
    expect(await run(pools)).toMatch(/edge-1\/\S+ .* 192\.0\.2\.10-192\.0\.2\.99/);
    expect(await run(clusters)).toMatch(/^blue .* 2 */m);
    expect(await run(whoHas)).toMatch(/blue.*control-plane|control-plane.*blue/);
  });

  page.step('Steps', 5, async ({ commands: [handOver] }) => {
    const port = await freePort();
    const pool = {
      servers: [server.url],
      site: 'edge-1',
      cluster: 'blue',
      announcer: 'kube-vip',
      tokenFile: terminal.file('tokens/blue.token'),
    };
    const settings = { defaultProvider: 'pool', observe: { port }, driftSeconds: 10, pool };
    await terminal.write('controller.yaml', settings);
    controller = await terminal.start('causeway controller --config controller.yaml', port, {
      KUBECONFIG: terminal.file('kubeconfig'),
      CAUSEWAY_POOL_ENABLED: 'true',
    });
    await waitFor('the Event', async () =>
      (await run('kubectl get events -n shop')).includes('ForeignAddress'),
    );
    await run(handOver);
    await waitFor('the Service to hold its address', async () =>
      (await wanted('web'))['causeway.dev/pool-holding']?.includes('192.0.2.11'),
    );
    expect(await wanted('web')).toMatchObject({ [kubeVip]: '192.0.2.11' });
    await announce('web', '192.0.2.11');
    expect(await run('causeway ipam who-has edge-1 192.0.2.11')).toContain('shop/web');
  });

  page.step('Steps', 6, async ({ commands: [check] }) => {
    // The command of the cluster uses the cluster's token from its settings.
    const found = await run(check, { CAUSEWAY_TOKEN_FILE: '', CAUSEWAY_SERVER: '' });
    expect(found.trim().split('\n')).toHaveLength(1);
  });

  page.step('Steps', 7, async ({ commands: [create] }) => {
    await terminal.write('new.json', service('new'));
    await run('kubectl apply -f new.json');
    const address = await waitFor('its address', async () => (await wanted('new'))[kubeVip]);
    expect(address).toMatch(/^192\.0\.2\.\d+$/);
    expect(address).not.toBe('192.0.2.11');
    await announce('new', address);
    expect(await run(create)).toMatch(/control plane 192\.0\.2\.[3-9] /);
  });

  page.step('The way back', 1, async ({ commands: [stop] }) => {
    await run(stop);
    await controller?.stop();
    expect(await wanted('web')).toMatchObject({ [kubeVip]: '192.0.2.11' });
  });

  page.step('The way back', 2, async ({ commands: [history] }) => {
    const text = await run(history);
    const address = (await wanted('new'))[kubeVip];
    expect(text.split('\n').find((line) => line.includes(address ?? '?'))).toContain('shop/new');
  });

  page.step('The way back', 3, async () => {
    // The state of the Services is the same as if it had written it.
    for (const name of ['web', 'new']) {
      const words = `kubectl get service ${name} -n shop -o jsonpath='{..ingress[0].ip}'`;
      expect((await wanted(name))[kubeVip]).toBe(await run(words));
    }
  });

  page.end();
});

function service(name: string, annotations: Record<string, string> = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name, annotations },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, targetPort: 8080 }] },
  };
}
