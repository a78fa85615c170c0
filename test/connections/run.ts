import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '../services/service-process.ts';
import { waitFor } from '../services/wait-for.ts';
import { Actor } from './act.ts';
import { ConnectionsLab, type Layer } from './lab.ts';
import { comparisonNodes, nodeAddresses } from './nodes.ts';
import { makeSchedule, type ScheduleOptions } from './schedule.ts';
import type { TrafficLine, TrafficPath, TrafficSettings, TrafficTarget } from './traffic-lines.ts';
import { judge, type RunEvent, type Verdict } from './verdict.ts';

export interface RunOptions {
  readonly layer: Layer;
  readonly seed: number;
  readonly seconds: number;
  readonly failovers: ScheduleOptions['failovers'];
  /** Whether uploads whose slot has moved must survive a failover. */
  readonly hasPins: boolean;
  /** Connections that stay open, on all paths together. */
  readonly running: number;
  readonly newPerSecond: number;
  readonly preStopSeconds: number;
  /**
   * A connection without progress for this long is broken: longer than any outage of the schedule with the
   * backoff of TCP that follows it.
   */
  readonly stallMs: number;
}

const program = path.join(import.meta.dirname, 'programs', 'traffic-client.ts');
const messageMs = 1_000;
/** Each path's share of the connections, in percent. */
const shares: Readonly<Record<TrafficPath, number>> = {
  gateway: 60,
  'gateway, shared backends': 15,
  'gateway, local source': 10,
  'node with kube-proxy': 8,
  'node with causeway proxy': 7,
};

export interface RunResult extends Verdict {
  readonly events: readonly RunEvent[];
}

/** Runs a schedule under traffic and judges every connection. */
export async function runSchedule(options: RunOptions): Promise<RunResult> {
  const { layer, preStopSeconds, stallMs, seed, seconds, failovers } = options;
  const lab = await ConnectionsLab.start({ layer, preStopSeconds, messageMs, stallMs });
  try {
    const clients = await Promise.all(startClients(lab, options));
    const actor = new Actor(lab);
    const nodes = [...lab.machines.keys()];
    for (const { step, pauseSeconds } of makeSchedule({ seed, seconds, nodes, failovers })) {
      await actor.act(step);
      lab.kubelet.check();
      for (let second = 0; second < pauseSeconds; second += 1) {
        await actor.checkActive();
        await delay(1_000);
      }
    }
    await actor.checkActive();
    for (const { child } of clients) child.kill('SIGTERM');
    await Promise.all(clients.map(({ child }) => child.exited));
    const logs = [...clients, ...lab.machines.values()].map(({ log }) => log);
    const lines = (await Promise.all(logs.map(readLines))).flat();
    const { events } = actor;
    return {
      ...judge(lines, { pods: lab.kubelet.ends, events, hasPins: options.hasPins }),
      events,
    };
  } finally {
    const keep = process.env['CAUSEWAY_KEEP_LOGS'];
    if (keep !== undefined)
      await fs.cp(lab.topology.directory, keep, { recursive: true, filter: isLog });
    await lab.stop();
  }
}

/** Directories, and the logs in them. */
function isLog(file: string): boolean {
  return path.extname(file) === '' || path.extname(file) === '.log';
}

interface TrafficClient {
  readonly child: ServiceProcess;
  readonly log: string;
}

function startClients(lab: ConnectionsLab, options: RunOptions): Promise<TrafficClient>[] {
  const nodePort = (number: number) => Object.values(nodeAddresses(number));
  const web = lab.frontendOf('web');
  const shared = [lab.frontendOf('shared-a'), lab.frontendOf('shared-b')];
  const targets = (path: TrafficPath, of: readonly (readonly [string, number])[]) =>
    of.map(([address, port]): TrafficTarget => {
      const share = shares[path] / 100 / of.length;
      const count = Math.ceil(options.running * share);
      return { path, address, port, count, newPerSecond: options.newPerSecond * share };
    });
  const frontends = [web, ...shared].map(({ addresses, port }) =>
    addresses.map((address) => [address, port] as const),
  );
  const [toWeb = [], ...toShared] = frontends;
  const ports = (number: number) => nodePort(number).map((each) => [each, web.nodePort] as const);
  const outside = [
    ...targets('gateway', toWeb),
    ...targets('gateway, shared backends', toShared.flat()),
  ];
  const local = [
    ...targets('gateway, local source', toWeb),
    ...targets('node with kube-proxy', ports(comparisonNodes['kube-proxy'])),
    ...targets('node with causeway proxy', ports(comparisonNodes['causeway proxy'])),
  ];
  const start = (name: string, to: readonly TrafficTarget[]) =>
    startClient(lab, { name, targets: to, messageMs, stallMs: options.stallMs });
  return [start('c', outside), start('l', local)];
}

/** Starts a client on the machine of its name, and waits until all its connections that stay open are established. */
async function startClient(
  { topology }: ConnectionsLab,
  settings: TrafficSettings,
): Promise<TrafficClient> {
  const { name: machine, targets } = settings;
  const name = `traffic-${machine}`;
  const child = topology.start(machine, name, [program, JSON.stringify(settings)]);
  const log = topology.log(name);
  const wanted = targets.reduce((total, { count }) => total + count, 0);
  await waitFor(`${wanted} connections of ${machine}`, async () => {
    const last = (await readLines(log)).findLast((line) => line.kind === 'summary');
    const counts = Object.values(last?.counts ?? {});
    const running = counts.reduce((total, each) => total + each.running, 0);
    if (running < wanted) throw new Error(JSON.stringify(last));
    return true;
  });
  return { child, log };
}

async function readLines(log: string): Promise<TrafficLine[]> {
  const lines = (await fs.readFile(log, 'utf8')).split('\n');
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as TrafficLine);
}
