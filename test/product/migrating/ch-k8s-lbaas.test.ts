import { afterAll, beforeAll, describe, expect } from 'vitest';
import { formatPrefix } from '../../../packages/base/src/address/prefix.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import {
  legacyManagedAnnotation,
  legacyPortAnnotation,
} from '../../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import type { AddressPair } from '../../../packages/openstack/src/neutron/resources.ts';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import { startEmbeddedOpenStack } from '../../../packages/fake-openstack/src/cloud.ts';
import { freePort } from '../../services/free-port.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import type { ServiceProcess } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';
import { MigrationPage } from './migration-page.ts';
import { OldLbaas, plainService, type OldAgent } from './old-lbaas.ts';
import { stubDeployment, stubNamespace } from './stub-objects.ts';
import { filled, hasOpenStackCommand, Terminal } from './terminal.ts';

const hasKubectl = await isAvailable(() => ensureProgram('kubectl'));
const gatewayNames = ['gw1', 'gw2'];
const moved = ['web', 'mail'];
const { signal } = new AbortController();
const old = { NAMESPACE: 'lbaas', NAME: 'ch-k8s-lbaas-controller' };

describe.skipIf(!hasKubectl)('moving from ch-k8s-lbaas', () => {
  const page = new MigrationPage('ch-k8s-lbaas');
  let kubernetes: Awaited<ReturnType<typeof startEmbeddedKubernetes>>;
  let cloud: Awaited<ReturnType<typeof startEmbeddedOpenStack>>;
  let terminal: Terminal;
  let lbaas: OldLbaas;
  let controller: ServiceProcess | undefined;
  const fixed = new Map<string, string>();
  const ports = new Map<string, string>();
  const oldAgents = new Map<string, OldAgent>();
  const newAgents = new Map<string, ServiceProcess>();
  /** The gateways in the controller's settings at the moment. */
  const agents = new Map<string, object>();

  beforeAll(async () => {
    kubernetes = await startEmbeddedKubernetes();
    cloud = await startEmbeddedOpenStack();
    terminal = await Terminal.open({});
    const kubeconfig = await terminal.write('kubeconfig', kubernetes.kubeconfig);
    await terminal.write('clouds.yaml', cloud.cloudsYaml);
    lbaas = await OldLbaas.open(kubeconfig, cloud);
    for (const [index, name] of moved.entries()) {
      fixed.set(name, await lbaas.serve(name, 80 + index));
    }
    const optedOut = { [legacyManagedAnnotation]: 'false' };
    await lbaas.client.create(services, plainService('manual', 99, optedOut));
    const pairs = [...fixed.values()].map((address) => `${address}/32`);
    for (const name of gatewayNames) {
      const agent = await lbaas.startAgent();
      oldAgents.set(name, agent);
      ports.set(name, await lbaas.gatewayPort(name, pairs));
      agents.set(name, { name, url: agent.url, port: ports.get(name), api: 'v1' });
    }
    await terminal.write('secret', lbaas.secret.toString('base64'));
    const items = [stubNamespace(old.NAMESPACE), stubDeployment(old.NAMESPACE, old.NAME)];
    await terminal.write('before.json', { apiVersion: 'v1', kind: 'List', items });
    await run('kubectl apply -f before.json');
    await writeSettings();
  });
  afterAll(async () => {
    await terminal.close();
    await Promise.all([...oldAgents.values()].map((agent) => agent.stop()));
    await lbaas.close();
    await Promise.all([kubernetes.stop(), cloud.stop()]);
  });

  const env = () => ({
    KUBECONFIG: terminal.file('kubeconfig'),
    OS_CLIENT_CONFIG_FILE: terminal.file('clouds.yaml'),
    OS_CLOUD: 'demo',
  });
  const run = (line = '') => terminal.run(line, env());
  /** The page's settings, with this operator's own values. */
  const writeSettings = async (change: object = {}): Promise<number> => {
    const settings = page.settings();
    const port = await freePort();
    const gateway = {
      ...settings['gateway'],
      subnets: [lbaas.subnet?.id],
      floatingNetwork: lbaas.floatingNetwork,
      secretFile: terminal.file('secret'),
      agents: [...agents.values()],
      ...change,
    };
    const own = { cloud: 'demo', driftSeconds: 10, observe: { port }, gateway };
    await terminal.write('controller.yaml', { ...settings, ...own });
    return port;
  };
  const start = async (change: object = {}) => {
    const port = await writeSettings(change);
    const line = 'causeway controller --config controller.yaml';
    controller = await terminal.start(line, port, env());
  };
  const pairsOf = async (port: string) =>
    (await lbaas.neutron.ports.get(port, { signal })).allowedAddressPairs;
  const stop = async () => controller?.stop(60_000);
  const read = (name: string) => lbaas.client.get(services, { namespace: 'default', name });
  const expectServed = async (names: readonly string[]) => {
    for (const name of names) {
      await waitFor(`${name} to be served`, async () => {
        const { status } = await read(name);
        return status?.conditions?.[0]?.status === 'True';
      });
      const [ingress] = (await read(name)).status?.loadBalancer?.ingress ?? [];
      expect(ingress?.ip).toBe(lbaas.addresses.get(name));
    }
  };
  const served = () => moved.map((name, index) => `${fixed.get(name)}:${80 + index}`).sort();
  /** Causeway's agent on a gateway, with a kernel in memory. */
  const startAgent = async (name: string, more: object = {}) => {
    const [port, metrics] = [await freePort(), await freePort()];
    const address = '127.0.0.1';
    await terminal.write(`${name}.yaml`, {
      name,
      listen: { address, port },
      metrics: { address, port: metrics },
      stateDirectory: terminal.file(`${name}-state`),
      runtimeDirectory: terminal.file(`${name}-run`),
      secretsFile: terminal.file('secret'),
      nftables: { driver: 'memory' },
      addresses: { mover: 'foreign' },
      probe: { intervalMs: 0 },
      ...more,
    });
    const line = `causeway agent run -c ${name}.yaml`;
    newAgents.set(name, await terminal.start(line, metrics));
    const endpoints = async () => {
      const text = await (await fetch(`http://${address}:${metrics}/metrics`)).text();
      return Number(/^causeway_agent_frontends (\d+)$/m.exec(text)?.[1]);
    };
    return { url: `http://${address}:${port}`, endpoints };
  };
  const untilCurrent = (command = '') =>
    waitFor('every gateway to be current', async () => {
      const text = await run(command);
      return gatewayNames.every((name) =>
        new RegExp(`^${name} +yes +\\S+ +\\S+ +yes`, 'm').test(text),
      );
    });

  page.step('Before', 1, async ({ commands: [list, tagged] }) => {
    const text = await run(list);
    for (const address of lbaas.addresses.values()) expect(text).toContain(address);
    if (hasOpenStackCommand) expect(await run(tagged)).toContain(fixed.get('web'));
  });

  page.step('Before', 2, async ({ commands: [check] }) => {
    const { stdout } = await terminal.attempt(check ?? '', env());
    expect(stdout).toMatch(/^gw1 +yes/m);
  });

  page.step('Before', 3, async ({ commands: [show] }) => {
    if (!hasOpenStackCommand) return;
    const text = await run(filled(show, { PORT: ports.get('gw1') ?? '' }));
    for (const address of fixed.values()) expect(text).toContain(address);
  });

  page.step('Before', 4, async () => {
    expect((await read('manual')).metadata?.annotations).toHaveProperty(
      [legacyManagedAnnotation],
      'false',
    );
  });

  page.step('Step 1: the controller', 1, async ({ commands: [scale] }) => {
    await run(filled(scale, old));
    expect(await run(`kubectl get deployments -A -o jsonpath='{..spec.replicas}'`)).toBe('0');
  });

  page.step('Step 1: the controller', 2, async () => {
    const before = await lbaas.seen();
    await start();
    await expectServed(moved);
    expect(await lbaas.seen()).toEqual(before);
    expect((await read('manual')).status?.conditions).toBeUndefined();
  });

  page.step('Step 1: the controller', 3, async () => {
    for (const agent of oldAgents.values()) {
      await waitFor(
        'the old agent to get its configuration',
        () => agent.serves().join() === served().join(),
      );
    }
    const picky = { loadBalancerSourceRanges: ['192.0.2.0/24'] };
    await lbaas.client.create(services, plainService('picky', 443, {}, picky));
    const sticky = { sessionAffinity: 'ClientIP' };
    await lbaas.client.create(services, plainService('sticky', 444, {}, sticky));
    await waitFor('the Events', async () => {
      const events = await run('kubectl get events');
      return (
        /AffinityNotKept .*service\/sticky/.test(events) && /Warning .*service\/picky/.test(events)
      );
    });
    for (const name of ['picky', 'sticky']) {
      await lbaas.client.delete(services, { namespace: 'default', name });
    }
  });

  page.step('Step 1: the controller', 4, async ({ commands: [list, gateways] }) => {
    await untilCurrent(gateways);
    const text = await run(list);
    for (const address of lbaas.addresses.values()) expect(text).toContain(address);
  });

  page.step('The way back', 1, async () => {
    const refused = await terminal.attempt('causeway gateways hand-back -c controller.yaml', env());
    expect(refused.stderr).toContain('is running');
    await stop();
  });

  page.step('The way back', 2, async ({ commands: [dry, really] }) => {
    await waitFor('the lease to be given up', async () =>
      (await run(dry)).includes('default/web: would be handed back'),
    );
    await run(really);
    for (const name of moved) {
      const { metadata, status } = await read(name);
      expect(metadata?.finalizers ?? []).toEqual([]);
      const marks = [legacyManagedAnnotation, legacyPortAnnotation].sort();
      expect(Object.keys(metadata?.annotations ?? {}).sort()).toEqual(marks);
      expect(status?.loadBalancer?.ingress?.[0]?.ip).toBe(lbaas.addresses.get(name));
    }
  });

  page.step('The way back', 3, async () => {
    const { url, endpoints } = await startAgent('gw1', {
      v1: { secretsFile: terminal.file('secret') },
    });
    await lbaas.push(url, oldAgents.get('gw1')?.claim());
    expect(await endpoints()).toBe(moved.length);
    await newAgents.get('gw1')?.stop();
  });

  page.step('The way back', 4, async ({ commands: [scale] }) => {
    await run(filled(scale, old));
    expect(await run(`kubectl get deployments -A -o jsonpath='{..spec.replicas}'`)).toBe('1');
  });

  page.step('Step 2: the agents, one gateway at a time', 1, async () => {
    await start();
    await expectServed(moved);
    await oldAgents.get('gw2')?.stop();
    const { url } = await startAgent('gw2');
    agents.set('gw2', { name: 'gw2', url, port: ports.get('gw2') });
  });

  page.step('Step 2: the agents, one gateway at a time', 2, async ({ commands: [list] }) => {
    await stop();
    await start();
    await untilCurrent(list);
    await expectServed(moved);
  });

  page.step('Step 2: the agents, one gateway at a time', 3, async () => {
    await oldAgents.get('gw1')?.stop();
    const { url, endpoints } = await startAgent('gw1');
    agents.set('gw1', { name: 'gw1', url, port: ports.get('gw1') });
    await stop();
    await start();
    await untilCurrent('causeway gateways list -c controller.yaml');
    await expectServed(moved);
    expect(await endpoints()).toBe(moved.length);
  });

  page.step('Step 3: closing the way back', 1, async () => {
    await stop();
    await start({ keepWayBack: false });
    await expectServed(moved);
    await waitFor('the old marks to go', async () => {
      const { tagged, named } = await lbaas.seen();
      return tagged.length + named.length === 0;
    });
  });

  page.step('Step 3: closing the way back', 2, async ({ commands: [unset] }) => {
    if (!hasOpenStackCommand) return;
    for (const PORT of ports.values()) {
      for (const ADDRESS of fixed.values()) {
        const isIt = ({ prefix }: AddressPair) => formatPrefix(prefix) === `${ADDRESS}/32`;
        const MAC = (await pairsOf(PORT)).find(isIt)?.macAddress ?? '';
        await run(filled(unset, { ADDRESS, MAC, PORT }));
      }
      expect((await pairsOf(PORT)).map(({ prefix }) => prefix)).toEqual([lbaas.subnet?.cidr]);
    }
  });

  page.step('Step 3: closing the way back', 3, async ({ commands: [remove] }) => {
    await run(filled(remove, old));
    await run(`kubectl delete service ${moved.join(' ')}`);
    // Ports are deleted after their Service, once no gateway can announce them.
    await waitFor('ports and floating IPs to go', async () => {
      const left = await lbaas.owned();
      if (left.length > 0) throw new Error(left.join(', '));
      return true;
    });
  });

  page.end();
});
