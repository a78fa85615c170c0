import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { settled, SimulatedClock } from '@causeway/base/time/simulated-clock';
import { whenAborted } from '@causeway/base/time/when-aborted';
import type { Pin } from '@causeway/nftables/pins/pin';
import { PinTable } from '../../agent/pins/pin-table.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import { frontendKey, type FrontendId } from '../../protocol/frontend.ts';
import type { Role } from '../../protocol/role.ts';
import { ReasonQueue } from '../reasons/reason-queue.ts';
import { PinRelay } from './pin-relay.ts';
import { MemoryAgent } from './testing/memory-agent.ts';

const id: FrontendId = {
  address: parseAddress('192.0.2.1'),
  protocol: 'TCP',
  port: parsePort(80),
};
const pin = (clientPort: number): Pin => ({
  client: parseAddress('198.51.100.7'),
  clientPort: parsePort(clientPort),
  address: id.address,
  port: id.port,
  backend: parseAddress('10.0.0.1'),
  backendPort: parsePort(8080),
});

const limits = { perFrontend: 100, total: 100, timeoutMs: 3_600_000 };

/** A gateway with pins. An update moves the connections in `running`. */
class PinningAgent extends MemoryAgent {
  readonly table: PinTable;
  epoch: string;
  running: readonly Pin[] = [];
  isHanging = false;
  isDown = false;

  constructor(clock: SimulatedClock, epoch: string, role: Role) {
    super();
    this.epoch = epoch;
    this.role = role;
    this.table = new PinTable(epoch, limits, clock);
  }

  override readonly pins = {
    prepare: async () => {
      for (const each of this.running) this.table.own(each);
      return new Set(this.running.length === 0 ? [] : [frontendKey(id)]);
    },
    collect: async (since: Parameters<PinTable['since']>[0]) => this.table.since(since, false),
    send: async (
      { set, removed }: { set: readonly Pin[]; removed: readonly Pin[] },
      signal: AbortSignal,
    ) => {
      if (this.isHanging) {
        await whenAborted(signal);
        throw new Error('aborted');
      }
      for (const each of removed) this.table.remove(each, false);
      for (const each of set) this.table.take(each);
    },
  };

  override status(): Promise<AgentStatus> {
    return this.isDown ? Promise.reject(new Error('down')) : Promise.resolve(this.shown);
  }

  get shown(): AgentStatus {
    const announcer = { role: this.role, since: '2026-01-01', reason: null };
    return { announcer, pins: { epoch: this.epoch, count: this.table.size } } as AgentStatus;
  }
}

function setUp(...roles: Role[]) {
  const clock = new SimulatedClock();
  const agents = roles.map((role, index) => new PinningAgent(clock, `e${index}`, role));
  const named = new Map(agents.map((agent, index) => [`g${index}`, agent]));
  const stop = new AbortController();
  const relay = new PinRelay({
    agents: named,
    clock,
    log: discardLog,
    metrics: noMetrics,
    limitMs: 1_000,
    reasons: new ReasonQueue(),
    statusOf: (name) => (named.get(name)?.isDown === true ? undefined : named.get(name)?.shown),
  });
  const push = (gateway: string, generation: number) => {
    const moved = () => new Set([frontendKey(id)]);
    const sent = { isDone: false };
    const done = relay
      .beforePush({ gateway, generation, lines: [], moved }, stop.signal)
      .then(() => (sent.isDone = true));
    return Object.assign(sent, { done });
  };
  return { clock, agents, relay, push, stop };
}

const ports = ({ table }: PinningAgent) =>
  table.since(undefined, false).set.map(({ clientPort }) => clientPort);

test('an update waits until all gateways have the pins of the active one', async () => {
  const { agents, push, relay } = setUp('active', 'standby', 'standby');
  const [active, one, two] = agents as [PinningAgent, PinningAgent, PinningAgent];
  active.running = [pin(1), pin(2)];
  const standby = push('g1', 7);
  await settled();
  expect(standby.isDone).toBe(false);
  await push('g0', 7).done;
  await standby.done;
  expect([ports(one), ports(two)]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  expect(relay.riskOf([id])).toBeUndefined();
});

test('without an acknowledgement the update is sent after a second, and the Service is not failover-safe', async () => {
  const { agents, push, relay, clock, stop } = setUp('active', 'standby', 'standby');
  const [active, hung, other] = agents as [PinningAgent, PinningAgent, PinningAgent];
  active.running = [pin(1)];
  hung.isHanging = true;
  const update = push('g0', 7);
  const standby = push('g2', 7);
  await clock.advance(900);
  expect(update.isDone).toBe(false);
  await clock.advance(100);
  await Promise.all([update.done, standby.done]);
  expect(ports(other)).toEqual([1]);
  expect(relay.riskOf([id])).toBe(
    'Not failover-safe: g1 has not acknowledged the pins of running connections',
  );
  const again = push('g0', 8);
  await settled();
  expect(again.isDone).toBe(true);

  hung.isHanging = false;
  relay.afterPush('g0', 8);
  const looping = relay.loop(stop.signal);
  await clock.advance(2_000);
  expect(relay.riskOf([id])).toBeUndefined();
  expect(ports(hung)).toEqual([1]);
  stop.abort();
  await looping;
});

test('the second pass hands over the pins of connections that began in between', async () => {
  const { agents, relay, clock, stop, push } = setUp('active', 'standby');
  const [active, standby] = agents as [PinningAgent, PinningAgent];
  const looping = relay.loop(stop.signal);
  await push('g0', 7).done;
  active.table.own(pin(3));
  relay.afterPush('g0', 7);
  await clock.advance(1);
  expect(ports(standby)).toEqual([3]);
  active.table.remove(pin(3), true);
  await clock.advance(2_000);
  expect(ports(standby)).toEqual([]);
  stop.abort();
  await looping;
});

test('a gateway that returns gets all pins before its update', async () => {
  const { agents, relay, clock, push } = setUp('active', 'standby');
  const [active, standby] = agents as [PinningAgent, PinningAgent];
  active.running = [pin(1)];
  await push('g0', 7).done;
  relay.afterPush('g0', 7);
  const returned = new PinTable('after', limits, clock);
  Object.assign(standby, { table: returned, epoch: 'after' });
  await push('g1', 7).done;
  expect(ports(standby)).toEqual([1]);
});

test('a Service with moved connections is not failover-safe while a gateway is down', async () => {
  const { agents, push, relay } = setUp('active', 'standby');
  const [active, standby] = agents as [PinningAgent, PinningAgent];
  standby.isDown = true;
  await push('g0', 7).done;
  expect(relay.riskOf([id])).toBeUndefined();
  active.running = [pin(1)];
  await push('g0', 8).done;
  expect(relay.riskOf([id])).toContain('g1 has not acknowledged');
});

test('no gateway is asked while none carries connections', async () => {
  const { push, agents } = setUp('standby', 'standby');
  const [first] = agents as [PinningAgent];
  first.running = [pin(1)];
  await push('g0', 7).done;
  expect(ports(first)).toEqual([]);
});
