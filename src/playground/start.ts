import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { CausewayError } from '../domain/error.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { startEmbeddedKubernetes, type EmbeddedKubernetes } from '../sandbox/kubernetes/start.ts';
import { startEmbeddedOpenStack, type EmbeddedOpenStack } from '../sandbox/openstack/cloud.ts';
import { startAllocator } from './allocator.ts';
import { Jobs } from './child-process.ts';
import { startController } from './controller.ts';
import { PlaygroundGateways } from './gateways.ts';
import { NamespacePods } from './namespace-pods.ts';
import { NamespaceServers } from './namespace-servers.ts';
import { Namespaces } from './namespaces.ts';
import { addNode } from './node.ts';
import { startNodeProxy } from './node-proxy.ts';
import { plan } from './plan.ts';
import type { ReadyFile } from './ready-file.ts';
import { Router } from './router.ts';
import { playScenario, type Scenario } from './scenario.ts';
import { settleTenant } from './tenant.ts';

export interface PlaygroundOptions {
  readonly directory: string;
  /** Port of the Kubernetes API; 0 takes a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  /** What to begin with. */
  readonly scenario: Scenario | undefined;
  /** Called for each step, with what is being started. */
  readonly onStep: (text: string) => void;
  /** A part of it has died. */
  readonly onDeath: (error: CausewayError) => void;
}

export interface Playground {
  readonly ready: ReadyFile;
  /** The gateway that holds the addresses at the start. */
  readonly master?: string;
  stop(): Promise<void>;
}

/** Undoes what was done, the last first; one that fails does not keep the others from being undone. */
class Undo {
  readonly #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void> | void): void {
    this.#steps.push(async () => step());
  }

  async all(log: Log): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) {
      await step().catch((error: unknown) => log.warn({ error }, 'could not be cleaned up'));
    }
  }
}

/** Everything on this machine, with gateways, node, pods and client as real network namespaces. */
export async function startPlayground(
  options: PlaygroundOptions,
  signal: AbortSignal,
): Promise<Playground> {
  const undo = new Undo();
  try {
    const { ready, master } = await build(options, undo, signal);
    return { ready, master, stop: () => undo.all(options.log) };
  } catch (error) {
    await undo.all(options.log);
    throw error;
  }
}

async function build(
  options: PlaygroundOptions,
  undo: Undo,
  signal: AbortSignal,
): Promise<{ ready: ReadyFile; master: string }> {
  const { directory, clock, log, onStep } = options;
  onStep('the network');
  const namespaces = await buildNetwork(undo);
  onStep('Kubernetes and OpenStack');
  const servers = new NamespaceServers();
  undo.add(() => servers.stop());
  const pods = new NamespacePods(namespaces, servers);
  const kubernetes = await startKubernetes(options.port, pods, undo);
  const cloud = await startEmbeddedOpenStack({ clock });
  undo.add(() => cloud.stop());
  const files = await writeClientFiles(directory, kubernetes, cloud);
  const stopRouter = await new Router(namespaces, cloud, log).start();
  undo.add(stopRouter);
  const tenant = await settleTenant(cloud, files.clouds, clock, signal);
  const jobs = new Jobs(directory, clock, options.onDeath);
  undo.add(() => jobs.stop());
  const secret = randomBytes(32);
  const gateways = new PlaygroundGateways({
    ...{ namespaces, jobs, directory, places: tenant.gateways, secret, clock },
  });
  undo.add(() => gateways.close());
  onStep('two gateways, the node’s proxy and the allocator');
  const [agents, ipam] = await Promise.all([
    gateways.start(signal),
    startAllocator(jobs, directory, clock, signal),
    startNodeProxy({ jobs, directory, namespaces, servers, kubernetes }, signal),
  ]);
  onStep('the controller, discovery and the dashboard');
  const dashboard = await startController(
    { ...options, jobs, files, tenant, agents, ipam, secret },
    signal,
  );
  const machine = (name: string) => ({
    netns: namespaces.nameOf(name),
    exec: namespaces.exec(name),
  });
  if (options.scenario !== undefined) {
    onStep('the scenario');
    await playScenario(options.scenario, { kubeconfig: files.kubeconfig, cloud, clock }, signal);
  }
  const ready: ReadyFile = {
    kubeconfig: files.kubeconfig,
    datapath: 'kernel',
    client: machine('client'),
    gateways: agents.map(({ name, netns, exec, url }) => ({ name, netns, exec, agent: url })),
    nodes: [{ name: plan.node.name, ...machine('node') }],
    openstack: { clouds: files.clouds, openrc: files.openrc },
    ipam,
    dashboard,
  };
  return { ready, master: await gateways.master(signal) };
}

/** The client, the router and the node; gateways and pods come later. */
async function buildNetwork(undo: Undo): Promise<Namespaces> {
  const { outside, tenant, nodes, node } = plan;
  const namespaces = await Namespaces.create(['outside', 'tenant', 'nodes']);
  undo.add(() => namespaces.removeAll());
  for (const machine of ['client', 'router', 'node']) await namespaces.add(machine);
  await namespaces.plug('client', 'eth0', 'outside', [`${outside.client}/${outside.bits}`]);
  await namespaces.ip('client', [`route add default via ${outside.router}`]);
  await namespaces.plug('router', 'outside', 'outside', [`${outside.router}/${outside.bits}`]);
  await namespaces.plug('router', 'tenant', 'tenant', [`${tenant.router}/${tenant.bits}`]);
  await namespaces.sysctl('router', 'net.ipv4.ip_forward=1');
  await namespaces.plug('node', 'eth0', 'nodes', [`${node.address}/${nodes.bits}`]);
  await namespaces.ip('node', [`route add default via ${nodes.shared}`]);
  await namespaces.sysctl('node', 'net.ipv4.ip_forward=1');
  return namespaces;
}

async function startKubernetes(
  port: number,
  pods: NamespacePods,
  undo: Undo,
): Promise<EmbeddedKubernetes> {
  const controllers = { schedulesPods: true, runner: pods };
  const kubernetes = await startEmbeddedKubernetes({ port, controllers });
  undo.add(() => kubernetes.stop());
  addNode(kubernetes.cluster);
  return kubernetes;
}

export interface ClientFiles {
  readonly kubeconfig: string;
  readonly clouds: string;
  readonly openrc: string;
}

async function writeClientFiles(
  directory: string,
  kubernetes: EmbeddedKubernetes,
  cloud: EmbeddedOpenStack,
): Promise<ClientFiles> {
  const write = async (name: string, text: string) => {
    const file = path.join(directory, name);
    await fs.writeFile(file, text, { mode: 0o600 });
    return file;
  };
  return {
    kubeconfig: await write('kubeconfig', kubernetes.kubeconfig),
    clouds: await write('clouds.yaml', cloud.cloudsYaml),
    openrc: await write('openrc', cloud.openrc),
  };
}
