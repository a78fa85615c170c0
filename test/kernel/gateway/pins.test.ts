import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { systemRandom } from '../../../packages/base/src/simulation/random.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { AgentFleet } from '../../../packages/causeway/src/gateway/controller/fleet/agent-fleet.ts';
import { followReasons } from '../../../packages/causeway/src/gateway/controller/fleet/follow-reasons.testing.ts';
import { doubtsAll } from '../../../packages/causeway/src/gateway/controller/fleet/removal-verifiers.testing.ts';
import { ReasonQueue } from '../../../packages/causeway/src/gateway/controller/reasons/reason-queue.ts';
import { makeFrontend } from '../../../packages/causeway/src/gateway/protocol/frontend.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, type ServerName } from './services.ts';
import { gateways, serverPort, servers, Topology, type RunningClient } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();
const pods = ['10.77.1.1', '2001:db8:77::1:1'] as const;
/** Two frontends with the same backends. */
const sharedPorts = [81, 82] as const;
const onNodes = ['10.77.1.2'] as const;
const timeWait = 'net.netfilter.nf_conntrack_tcp_timeout_time_wait';

describe.skipIf(!isRunnable)('connections whose slot moves before a power cut', () => {
  let topology: Topology;
  let fleet: AgentFleet;
  const stop = new AbortController();
  const loops: Promise<unknown>[] = [];

  beforeAll(async () => {
    topology = await Topology.start();
    await topology.startAgents();
    const reasons = new ReasonQueue();
    fleet = new AgentFleet({
      agents: new Map(gateways.map((name) => [name, topology.client(name)])),
      clock: systemClock,
      random: systemRandom,
      log: discardLog,
      metrics: noMetrics,
      limitMs: 5_000,
      checkEveryMs: 60_000,
      verifier: doubtsAll,
      reasons,
    });
    loops.push(followReasons(reasons, fleet, stop.signal, () => {}));
    await fleet.start(signal);
    fleet.complete();
    loops.push(fleet.run(stop.signal));
  });
  afterAll(async () => {
    stop.abort();
    await Promise.allSettled(loops);
    await topology.stop();
  });

  /** Pods of two frontends and of two pairs that share the pods, and the nodes of another one. */
  async function serve(backends: readonly ServerName[], nodes: readonly ServerName[]) {
    const toNodes = makeFrontend({
      address: parseAddress(onNodes[0]),
      protocol: 'TCP',
      port: parsePort(80),
      nodePort: parsePort(serverPort),
    });
    fleet.setNodes(nodes.map((name) => parseAddress(servers[name].v4)));
    // On another port than the node port: each backend has one frontend.
    const toPods = pods.map((address) => frontend(address, 'TCP', backends, {}, 1));
    const shared = pods.flatMap((address) =>
      sharedPorts.map((port) => frontend(address, 'TCP', backends, { port: parsePort(port) }, 2)),
    );
    const frontends = [...toPods, ...shared, toNodes];
    const generation = fleet.setService('default/a', frontends);
    await waitFor('both gateways to serve', async () => {
      const states = await Promise.all(
        gateways.map((name) => topology.client(name).status(signal)),
      );
      return states.every((status) => status.generation >= Math.max(generation, fleet.generation));
    });
    return frontends;
  }

  const startClient = (verb: 'up' | 'down', address: string, port: number) =>
    topology.startClient('c', verb, address, port, 20, 1_000_000, 15_000);

  const start = (verb: 'up' | 'down'): Promise<RunningClient[]> =>
    Promise.all([...pods, ...onNodes].map((address) => startClient(verb, address, 80)));

  const startShared = (): Promise<RunningClient[]> =>
    Promise.all(
      pods.flatMap((address) => sharedPorts.map((port) => startClient('down', address, port))),
    );

  test('have pins after an agent restarts, and none after their end', async () => {
    for (const name of gateways) await topology.network.sysctl(name, timeWait, 1);
    await serve(['p1'], ['n1', 'n2']);
    const running = await topology.startClient('c', 'pause', pods[0], 80, 5);
    await serve(['p2'], ['n1', 'n2']);
    const pinCounts = async () => {
      const states = await Promise.all(
        gateways.map((name) => topology.client(name).status(signal)),
      );
      return states.map(({ pins }) => pins?.count).join();
    };
    await waitFor('pins on both gateways', async () => (await pinCounts()) === '5,5');
    await topology.killAgent('g2');
    await topology.startAgent('g2');
    await waitFor('pins on both gateways again', async () => (await pinCounts()) === '5,5');
    running.stop();
    await running.result();
    // Conntrack keeps an ended connection for its TIME_WAIT, and the pin as long.
    await waitFor('no pins', async () => (await pinCounts()) === '0,0');
  });

  test('continue on their backends, in both families and directions', async () => {
    await serve(['p1', 'p2'], ['n1', 'n2']);
    const running = [...(await start('up')), ...(await start('down')), ...(await startShared())];
    const frontends = await serve(['p1', 'p2', 'n1', 'n2'], ['n1', 'n2', 'p1']);
    await waitFor('the pins to be acknowledged', () => fleet.failoverRisk(frontends) === undefined);
    const active = await waitFor('one active gateway', () => topology.active());
    const [standby = active] = gateways.filter((name) => name !== active);
    const pinCount = async (name: (typeof gateways)[number]) =>
      (await topology.client(name).status(signal)).pins?.count ?? 0;
    const sharedConnections = pods.length * sharedPorts.length * 20;
    await waitFor('the standby gateway to have all pins', async () => {
      const count = await pinCount(standby);
      return count > sharedConnections && count === (await pinCount(active));
    });
    await topology.cutPower(active);
    const results = await Promise.all(running.map((each) => each.result()));
    expect(results).toEqual(running.map(() => ({ whole: 20, of: 20 })));
  });
});
