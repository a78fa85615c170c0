import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { PodRunner } from '@causeway/fake-kubernetes/controllers/pod-runner';
import { startEmbeddedKubernetes, type EmbeddedKubernetes } from '@causeway/fake-kubernetes/start';
import { startEmbeddedOpenStack, type EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { startAllocator } from './allocator.ts';
import { Jobs } from './child-process.ts';
import { startController } from './controller.ts';
import { PlaygroundGateways } from './gateways.ts';
import { KernelDataPath } from './kernel-data-path.ts';
import { MemoryDataPath } from './memory-data-path.ts';
import { addNodes } from './node.ts';
import { startNodeProxy } from './node-proxy.ts';
import { plannedNodes } from './plan.ts';
import type { ReadyFile } from './ready-file.ts';
import { applyScenario, type Scenario } from './scenario.ts';
import { prepareTenant } from './tenant.ts';

export interface PlaygroundOptions {
  readonly datapath: 'kernel' | 'memory';
  readonly directory: string;
  /** Port of the Kubernetes API; 0 selects a free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Initial content. */
  readonly scenario: Scenario | undefined;
  /** Called at the start of each step, with its name. */
  readonly onStep: (text: string) => void;
  /** Called when a part of the playground has exited. */
  readonly onDeath: (error: CausewayError) => void;
}

export interface Playground {
  readonly ready: ReadyFile;
  /** The active gateway at the start. */
  readonly active: string;
  /** For requests to the cloud without a client. */
  readonly cloud: PlaygroundCloud;
  stop(): Promise<void>;
}

export interface PlaygroundCloud {
  readonly authUrl: string;
  readonly loadBalancerUrl: string;
  /** The subnet of load balancers in the project `demo`. */
  readonly subnetId: string;
}

/** Undoes all steps in reverse order; a failure does not stop the others. */
class Undo {
  readonly #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void> | void): void {
    this.#steps.push(async () => step());
  }

  async all(log: Log): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) {
      await step().catch((error: unknown) => log.warn({ error }, 'cleanup failed'));
    }
  }
}

/** Starts everything on this machine, with the data path that it supports. */
export async function startPlayground(
  options: PlaygroundOptions,
  signal: AbortSignal,
): Promise<Playground> {
  const undo = new Undo();
  try {
    const playground = await build(options, undo, signal);
    return { ...playground, stop: () => undo.all(options.log) };
  } catch (error) {
    await undo.all(options.log);
    throw error;
  }
}

async function build(
  options: PlaygroundOptions,
  undo: Undo,
  signal: AbortSignal,
): Promise<Omit<Playground, 'stop'>> {
  const { directory, clock, log, onStep } = options;
  onStep('the network');
  const dataPath =
    options.datapath === 'kernel' ? await KernelDataPath.create(directory) : new MemoryDataPath();
  undo.add(() => dataPath.remove());
  onStep('Kubernetes and OpenStack');
  const kubernetes = await startKubernetes(options.port, dataPath.pods, undo);
  const cloud = await startEmbeddedOpenStack({ clock });
  undo.add(() => cloud.stop());
  const files = await writeClientFiles(directory, kubernetes, cloud);
  await dataPath.followCloud(cloud, log);
  const tenant = await prepareTenant(cloud, files.clouds, clock, signal);
  const jobs = new Jobs(directory, clock, options.onDeath);
  undo.add(() => jobs.stop());
  const secret = randomBytes(32);
  const gateways = new PlaygroundGateways({
    dataPath,
    jobs,
    directory,
    places: tenant.gateways,
    secret,
    clock,
  });
  undo.add(() => gateways.close());
  onStep('two gateways, the nodes’ proxies and the allocator');
  const proxy = { jobs, directory, dataPath, kubernetes };
  const [agents, ipam] = await Promise.all([
    gateways.start(signal),
    startAllocator(jobs, directory, clock, signal),
    ...plannedNodes.map((node) => startNodeProxy(node, proxy, signal)),
  ]);
  onStep('the controller, discovery and the dashboard');
  const dashboard = await startController(
    { ...options, jobs, files, tenant, agents, ipam, secret },
    signal,
  );
  if (options.scenario !== undefined) {
    onStep('the scenario');
    await applyScenario(options.scenario, { kubeconfig: files.kubeconfig, cloud, clock }, signal);
  }
  const ready: ReadyFile = {
    kubeconfig: files.kubeconfig,
    datapath: dataPath.kind,
    client: dataPath.place('client'),
    gateways: agents.map(({ name, url }) => ({ name, ...dataPath.place(name), agent: url })),
    nodes: plannedNodes.map(({ name }) => ({ name, ...dataPath.place(name) })),
    openstack: { clouds: files.clouds, openrc: files.openrc },
    ipam,
    dashboard,
  };
  return { ready, active: await gateways.active(signal), cloud: describeCloud(cloud) };
}

function describeCloud({ authUrl, loadBalancerUrl, neutron }: EmbeddedOpenStack): PlaygroundCloud {
  const subnet = neutron.subnets.all().find(({ name }) => name === 'private-v4');
  return { authUrl, loadBalancerUrl, subnetId: subnet?.id ?? '' };
}

async function startKubernetes(
  port: number,
  pods: PodRunner,
  undo: Undo,
): Promise<EmbeddedKubernetes> {
  const controllers = { schedulesPods: true, runner: pods };
  const kubernetes = await startEmbeddedKubernetes({ port, controllers });
  undo.add(() => kubernetes.stop());
  addNodes(kubernetes.cluster);
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
