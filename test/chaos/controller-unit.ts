import fs from 'node:fs/promises';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { startServiceProcess } from '../services/service-process.ts';
import { openEchoGate, type EchoGate } from './echo-gate.ts';
import { openGate, type Gate } from './gate.ts';
import type { Networks } from './networks.ts';
import type { Surroundings } from './surroundings.ts';
import { Unit } from './unit.ts';

export const main = path.join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const movedClock = path.join(import.meta.dirname, 'programs', 'moved-clock.js');

/** The words that run a command of ours with a clock that can be moved. */
export function withMovableClock(clockFile: string, words: readonly string[]): readonly string[] {
  const node = [process.execPath, '--import', movedClock, main];
  return ['env', `CHAOS_CLOCK=${clockFile}`, ...node, ...words];
}

export interface ControllerPlan {
  readonly name: string;
  readonly directory: string;
  readonly surroundings: Surroundings;
  readonly networks: Networks;
  readonly secretFile: string;
  /** The agents' sockets by the gateways' names. */
  readonly agents: ReadonlyMap<string, string>;
}

/** A controller that reaches everything through gates of its own. */
export interface ControllerParts {
  readonly unit: Unit;
  /** By where they lead. One place may have several. */
  readonly gates: ReadonlyMap<string, readonly Gate[]>;
  readonly echoes: readonly EchoGate[];
}

export async function prepareController(plan: ControllerPlan): Promise<ControllerParts> {
  const { name, directory, surroundings, agents } = plan;
  const own = path.join(directory, name);
  await fs.mkdir(own, { recursive: true });
  const file = async (base: string, text: string) => {
    const target = path.join(own, base);
    await fs.writeFile(target, text, { mode: 0o600 });
    return target;
  };
  const gates = new Map<string, readonly Gate[]>();
  const echoes: EchoGate[] = [];
  const kube = await gateTo(serverOf(surroundings.kubeconfig));
  gates.set('kubernetes', [kube]);
  const throughEcho = async (url: string) => {
    const { origin, pathname } = new URL(url);
    const echo = await openEchoGate(origin);
    echoes.push(echo);
    const gate = await openGate({ host: '127.0.0.1', port: echo.port });
    gates.set('openstack', [...(gates.get('openstack') ?? []), gate]);
    return `http://127.0.0.1:${gate.port}${pathname === '/' ? '' : pathname}`;
  };
  const clouds = await divertedClouds(surroundings, throughEcho);
  const urls = new Map<string, string>();
  for (const [gateway, socket] of agents) {
    const gate = await openGate({ path: socket });
    gates.set(gateway, [gate]);
    urls.set(gateway, `http://127.0.0.1:${gate.port}`);
  }
  const kubeconfig = await file('kubeconfig', divertedKubeconfig(surroundings.kubeconfig, kube));
  const config = await file('controller.yaml', stringify(settings(plan, kubeconfig, urls)));
  const env = { OS_CLIENT_CONFIG_FILE: await file('clouds.yaml', clouds), KUBECONFIG: '' };
  const logFile = path.join(directory, `${name}.log`);
  const words = ['controller', '--config', config];
  const [program = '', ...args] = withMovableClock(path.join(own, 'clock'), words);
  return {
    unit: new Unit(name, () => startServiceProcess(program, args, { logFile, env })),
    gates,
    echoes,
  };
}

function settings(
  { networks, secretFile }: ControllerPlan,
  kubeconfig: string,
  urls: ReadonlyMap<string, string>,
): object {
  return {
    clusterId: 'chaos',
    kubeconfig,
    cloud: 'demo',
    driftSeconds: 10,
    observe: { port: 0 },
    log: { level: 'debug', format: 'text' },
    gateway: {
      enabled: true,
      layer: 'Pod',
      portManager: 'openstack',
      lookSeconds: 5,
      ...networks,
      secretFile,
      agents: [...urls].map(([name, url]) => ({ name, url })),
    },
  };
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { server: string } }[];
}

function serverOf(kubeconfig: string): string {
  return (parse(kubeconfig) as Kubeconfig).clusters[0]?.cluster.server ?? '';
}

function divertedKubeconfig(text: string, gate: Gate): string {
  const config = parse(text) as Kubeconfig;
  for (const { cluster } of config.clusters) cluster.server = `https://127.0.0.1:${gate.port}`;
  return stringify(config);
}

interface Clouds {
  readonly clouds: Readonly<Record<string, { auth: { auth_url: string } }>>;
}

async function divertedClouds(
  { cloudsYaml, networkUrl, loadBalancerUrl }: Surroundings,
  divert: (url: string) => Promise<string>,
): Promise<string> {
  const { demo } = (parse(cloudsYaml) as Clouds).clouds;
  if (demo === undefined) throw new Error('the cloud has no account demo');
  const authUrl = await divert(demo.auth.auth_url);
  const diverted = {
    ...demo,
    auth: { ...demo.auth, auth_url: authUrl },
    identity_endpoint_override: authUrl,
    network_endpoint_override: await divert(networkUrl),
    load_balancer_endpoint_override: await divert(loadBalancerUrl),
  };
  return stringify({ clouds: { demo: diverted } });
}

function gateTo(url: string): Promise<Gate> {
  const { hostname, port } = new URL(url);
  return openGate({ host: hostname, port: Number(port) });
}
