import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentStatus } from '../packages/causeway/src/gateway/protocol/agent-status.ts';
import { revisions } from '../packages/causeway/src/gateway/protocol/revision.ts';
import { KubeClient } from '../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../packages/kubernetes/src/client/connection.ts';
import { EventRecorder } from '../packages/kubernetes/src/events/event-recorder.ts';
import { HttpTransport } from '../packages/kubernetes/src/client/http-transport.ts';
import { services } from '../packages/kubernetes/src/objects/resources.ts';
import type { AgentClient } from '../packages/causeway/src/gateway/controller/fleet/agent-client-contract.ts';
import { makeGatewayProvider } from '../packages/causeway/src/gateway/controller/make-gateway-provider.ts';
import { configMapPortRecords } from '../packages/causeway/src/gateway/controller/ports/port-records.ts';
import { OpenStackPortManager } from '../packages/causeway/src/gateway/controller/ports/openstack-port-manager.ts';
import { ServiceController } from '../packages/causeway/src/services/service-controller.ts';
import { Cloud } from '../packages/openstack/src/cloud.ts';
import { cloudConfigFrom } from '../packages/openstack/src/config/settings.ts';
import { Neutron } from '../packages/openstack/src/neutron/neutron.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { discardLog } from '../packages/base/src/observability/log.ts';
import { noMetrics, type Metrics } from '../packages/base/src/observability/metrics.ts';
import { supervise } from '../packages/base/src/work/supervisor.ts';
import { whenAborted } from '../packages/base/src/time/when-aborted.ts';
import { eventType } from '../packages/causeway/src/cli/event-definitions.ts';
import { providerForServices } from '../packages/causeway/src/services/service-provider.ts';

export const never = new AbortController().signal;
/** Default of `workers` in the controller's settings. */
export const workers = 16;

interface Place {
  readonly kubeconfig: string;
  readonly authUrl: string;
  readonly region: string;
  readonly clusterId: string;
  readonly subnet: string;
  readonly network: string;
  readonly floatingNetwork: string;
  readonly floatingSubnet: string;
}

export type Requests = Readonly<Record<string, number>>;

/** The cluster and the cloud of gateway-surroundings.ts, and clients for them. */
export class Surroundings {
  readonly place: Place;
  readonly client: KubeClient;
  readonly neutron: Neutron;
  readonly #cloud: Cloud;
  readonly #ask: (command: string) => Promise<unknown>;
  readonly #end: () => Promise<void>;

  private constructor(
    place: Place,
    client: KubeClient,
    ask: (command: string) => Promise<unknown>,
    end: () => Promise<void>,
  ) {
    this.place = place;
    this.client = client;
    const config = cloudConfigFrom('bench', {
      auth_url: place.authUrl,
      region_name: place.region,
      username: 'demo',
      password: 'demo',
      user_domain_name: 'Default',
      project_name: 'demo',
      project_domain_name: 'Default',
    });
    this.#cloud = new Cloud(config, { log: discardLog, metrics: noMetrics, concurrency: workers });
    this.neutron = new Neutron(this.#cloud.session());
    this.#ask = ask;
    this.#end = end;
  }

  static async start(latencyMs: number): Promise<Surroundings> {
    const script = path.join(import.meta.dirname, 'gateway-surroundings.ts');
    const child = spawn(process.execPath, [script, '--latency', String(latencyMs)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse(String((await lines.next()).value)) as unknown;
    const place = (await next()) as Place;
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-bench-gateway-'));
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, place.kubeconfig);
    const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
    const transport = new HttpTransport(connection, systemClock);
    const client = new KubeClient({ transport, clock: systemClock });
    const ask = (command: string) => {
      child.stdin.write(`${command}\n`);
      return next();
    };
    return new Surroundings(place, client, ask, async () => {
      child.stdin.end();
      await ended;
      await fs.rm(directory, { recursive: true });
    });
  }

  async create(prefix: string, count: number): Promise<void> {
    await this.#ask(`create ${prefix} ${count}`);
  }

  async serve(prefix: string, count: number): Promise<void> {
    await this.#ask(`serve ${prefix} ${count}`);
  }

  async served(prefix: string): Promise<number> {
    return Number(await this.#ask(`served ${prefix}`));
  }

  /** Requests to them since the last call. */
  async requests(): Promise<Requests> {
    return (await this.#ask('requests')) as Requests;
  }

  async stop(): Promise<void> {
    await this.#cloud.close();
    await this.client.close();
    await this.#end();
  }
}

/** A gateway that acknowledges everything at once. Its own work is not the controller's time. */
export class QuickAgent implements AgentClient {
  generation = 0;
  frontends = 0;

  status(): Promise<AgentStatus> {
    const { generation } = this;
    const rest = { older: [], errors: [], alarms: [], frozen: null, drained: null, sound: true };
    const unhealthy = { heard: 0, seen: [], acted: [] };
    const announcer = { role: 'standby', since: null, reason: null };
    const status = { generation, announcer, unhealthy, revisions, ...rest };
    return Promise.resolve(status as unknown as AgentStatus);
  }

  async *events(signal: AbortSignal): AsyncGenerator<AgentStatus> {
    yield await this.status();
    await whenAborted(signal);
  }

  sendUnhealthy(): Promise<void> {
    return Promise.resolve();
  }

  push(lines: Iterable<string>) {
    let header: { kind: string; generation: number } | undefined;
    let frontends = 0;
    for (const line of lines) {
      if (header === undefined) header = JSON.parse(line) as { kind: string; generation: number };
      else if (line.startsWith('{"frontend"')) frontends += 1;
    }
    if (header === undefined) throw new Error('an empty push');
    this.frontends = header.kind === 'state' ? frontends : this.frontends + frontends;
    this.generation = header.generation;
    return Promise.resolve({ generation: this.generation, committed: true, older: [], errors: [] });
  }
}

export interface RunningController {
  readonly agents: readonly QuickAgent[];
  /** Number of finished reconciles. */
  reconciles(): number;
  stop(): Promise<void>;
}

/** The controller as assembled by `causeway controller`, with gateways that take no time. */
export async function startController(
  surroundings: Surroundings,
  driftEveryMs = 3_600_000,
): Promise<RunningController> {
  const { place, client, neutron } = surroundings;
  const subnet = await neutron.subnets.get(place.subnet, { signal: never });
  let reconciles = 0;
  const metrics: Metrics = {
    ...noMetrics,
    histogram: ({ name }) => ({
      observe: () => {
        if (name === 'causeway_reconcile_duration_seconds') reconciles += 1;
      },
    }),
  };
  const common = { client, clock: systemClock, log: discardLog, metrics };
  const agents = [new QuickAgent(), new QuickAgent()];
  const provider = makeGatewayProvider({
    ...common,
    manager: new OpenStackPortManager({
      neutron,
      cluster: { id: place.clusterId, uid: place.clusterId },
      records: configMapPortRecords({ client, clock: systemClock, namespace: 'kube-system' }),
      subnets: new Map([[4, subnet]]),
      floating: { networkId: place.floatingNetwork, subnetId: place.floatingSubnet },
    }),
    agents: new Map(agents.map((agent, index) => [`g${index + 1}`, agent])),
    layer: 'ClusterIP',
    masquerade: 'needed',
    keepWayBack: false,
    driftEveryMs,
  });
  const recorder = new EventRecorder({
    ...common,
    component: 'bench',
    instance: 'bench',
    eventType,
  });
  const controller = new ServiceController({
    ...common,
    providers: { all: [providerForServices(provider)], defaultName: 'gateway' },
    recordEvent: (service, reason, message) =>
      recorder.record(services, service, { reason, message }),
    workers,
  });
  const stop = new AbortController();
  const running = supervise(stop.signal, {
    events: (inner) => recorder.run(inner),
    services: (inner) => controller.run(inner),
  });
  return {
    agents,
    reconciles: () => reconciles,
    async stop() {
      stop.abort();
      await running;
    },
  };
}

export function sum(requests: Requests, matches: (what: string) => boolean): number {
  return Object.entries(requests)
    .filter(([what]) => matches(what))
    .reduce((total, [, number]) => total + number, 0);
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20);
}

export function print(requests: Requests): void {
  for (const [what, number] of Object.entries(requests)) console.log(`    ${number} ${what}`);
}
