import { afterEach, expect, test, vi } from 'vitest';
import { frontendKey, makeFrontend, type Frontend } from '../../protocol/frontend.ts';
import { parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort } from '@causeway/base/address/port';
import { discardLog } from '@causeway/base/observability/log';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { noMetrics, type Metrics } from '@causeway/base/observability/metrics';
import { seededRandom } from '@causeway/base/simulation/random';
import { settled, SimulatedClock } from '@causeway/base/time/simulated-clock';
import { AgentFleet } from './agent-fleet.ts';
import { MemoryAgent } from './testing/memory-agent.ts';
import { followReasons } from './follow-reasons.testing.ts';
import { ReasonQueue } from '../reasons/reason-queue.ts';
import { verifiesAll } from './removal-verifiers.testing.ts';

const address = parseAddress('192.0.2.1');
const frontend = (service: string, port = 80): Frontend =>
  makeFrontend({
    address,
    protocol: 'TCP',
    port: parsePort(port),
    service: `default/${service}`,
    destinations: [],
  });

const complaints: string[] = [];
let stop = new AbortController();
let ended: Promise<unknown> | undefined;
let following: Promise<void> | undefined;
afterEach(async () => {
  stop.abort();
  await ended;
  await following;
});

const start = (...agents: MemoryAgent[]) => startWith(noMetrics, ...agents);

async function startWith(metrics: Metrics, ...agents: MemoryAgent[]) {
  const { fleet, clock, starting } = begin(metrics, 1_000, ...agents);
  await clock.advance(1_000);
  await starting;
  return { fleet, clock };
}

function begin(metrics: Metrics, limitMs: number, ...agents: MemoryAgent[]) {
  stop = new AbortController();
  complaints.length = 0;
  const clock = new SimulatedClock();
  const reasons = new ReasonQueue();
  const fleet = new AgentFleet({
    agents: new Map(agents.map((agent, index) => [`g${index + 1}`, agent])),
    clock,
    random: seededRandom(1),
    log: discardLog,
    metrics,
    limitMs,
    checkEveryMs: 60_000,
    verifier: verifiesAll,
    reasons,
  });
  following = followReasons(reasons, fleet, stop.signal, ({ rejections }) =>
    complaints.push(...fleet.servicesOf(rejections)),
  );
  return { fleet, clock, starting: fleet.start(stop.signal) };
}

function run(fleet: AgentFleet): void {
  fleet.complete();
  ended = fleet.run(stop.signal);
}

test('sends the full state first, then only changes to all gateways', async () => {
  const [one, two] = [new MemoryAgent(), new MemoryAgent()];
  const { fleet } = await start(one, two);
  const generation = fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await settled();
  expect(fleet.servingSince(generation, [frontend('a')])).toEqual({ kind: 'served' });
  expect([...one.holds.keys()]).toEqual([frontendKey(frontend('a'))]);
  fleet.setService('default/b', [frontend('b', 81)]);
  await settled();
  expect(two.pushes.map(({ header }) => header.kind)).toEqual(['state', 'delta']);
  expect(two.pushes[1]?.frontends.size).toBe(1);
});

test('waits only briefly for a hung gateway at the start, even with a long request limit', async () => {
  const [slow, good] = [new MemoryAgent(), new MemoryAgent()];
  slow.mode = 'hangs';
  const { fleet, clock, starting } = begin(noMetrics, 10_000, slow, good);
  let isStarted = false;
  void starting.then(() => {
    isStarted = true;
  });
  await clock.advance(2_000);
  expect(isStarted).toBe(true);
  expect(fleet.standings().map(({ failure }) => failure !== undefined)).toEqual([true, false]);
});

test('does not delay other gateways for a hung or failed gateway, which catches up later', async () => {
  const [slow, good] = [new MemoryAgent(), new MemoryAgent()];
  const { fleet, clock } = await start(slow, good);
  slow.mode = 'hangs';
  const generation = fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await settled();
  expect(good.holds.size).toBe(1);
  expect(fleet.servingSince(generation, [frontend('a')])).toEqual({
    kind: 'waiting',
    message: 'Waiting for g1',
  });
  await clock.advance(1_001);
  expect(fleet.servingSince(generation, [frontend('a')])).toEqual({ kind: 'served' });
  slow.mode = 'works';
  await clock.advance(20_000);
  expect(slow.holds.size).toBe(1);
});

test('reports nothing as served while no gateway can be reached', async () => {
  const agent = new MemoryAgent();
  agent.mode = 'fails';
  const { fleet } = await start(agent);
  const generation = fleet.setService('default/a', [frontend('a')]);
  expect(fleet.servingSince(generation, [frontend('a')])).toEqual({
    kind: 'waiting',
    message: 'No gateway can be reached: no route',
  });
});

test('frees an address only after every gateway has confirmed its removal or is fenced', async () => {
  const [one, two] = [new MemoryAgent(), new MemoryAgent()];
  const { fleet, clock } = await start(one, two);
  fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await settled();
  two.mode = 'fails';
  one.keeps = { address, protocol: 'TCP', port: 80 };
  expect(fleet.mayAnnounce(address)).toEqual(['g1', 'g2']);
  fleet.setService('default/a', []);
  await settled();
  expect(fleet.mayAnnounce(address)).toEqual(['g1', 'g2']);
  one.keeps = undefined;
  fleet.setNodes([parseAddress('10.0.0.1')]);
  await settled();
  expect(fleet.mayAnnounce(address)).toEqual(['g2']);
  fleet.fence('g2');
  expect(fleet.mayAnnounce(address)).toEqual([]);
  await clock.advance(1);
});

test('treats an address in the state as announced, even if a gateway confirmed less', async () => {
  const agent = new MemoryAgent();
  const { fleet } = await start(agent);
  fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await settled();
  expect(fleet.mayAnnounce(address)).toEqual(['g1']);
  expect(fleet.mayAnnounce(parseAddress('192.0.2.9'))).toEqual([]);
});

test('sends nothing to the gateways for an unchanged Service', async () => {
  const agent = new MemoryAgent();
  const { fleet } = await start(agent);
  fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await settled();
  const asked = vi.spyOn(agent, 'status');
  fleet.setService('default/a', [frontend('a')]);
  await settled();
  expect(asked).not.toHaveBeenCalled();
  expect(agent.pushes).toHaveLength(1);
});

test('retries a failed gateway with a growing delay, even if the state changes', async () => {
  const agent = new MemoryAgent();
  agent.mode = 'fails';
  const { fleet, clock } = await start(agent);
  const pushed = vi.spyOn(agent, 'push');
  run(fleet);
  for (let port = 1; port <= 200; port += 1) {
    fleet.setService('default/a', [frontend('a', port)]);
    await clock.advance(50);
  }
  expect(pushed.mock.calls.length).toBeLessThan(10);
});

test('starts generations above those of every gateway', async () => {
  const agent = new MemoryAgent();
  agent.generation = 9_000_000_000_000;
  const { fleet } = await start(agent);
  run(fleet);
  await settled();
  expect(agent.pushes[0]?.header.generation).toBeGreaterThan(9_000_000_000_000);
});

test("does not count an operator's undo as a confirmation, and exceeds its generation after the freeze", async () => {
  const [undone, good] = [new MemoryAgent(), new MemoryAgent()];
  const { fleet, clock } = await start(undone, good);
  fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await settled();
  undone.generation += 1;
  undone.isFrozen = true;
  fleet.setService('default/a', []);
  await clock.advance(60_000);
  expect(undone.holds.size).toBe(1);
  expect(fleet.mayAnnounce(address)).toEqual(['g1']);
  undone.isFrozen = false;
  await clock.advance(60_000);
  expect(undone.holds.size).toBe(0);
  expect(fleet.mayAnnounce(address)).toEqual([]);
  expect(fleet.standings()).toMatchObject([{ isCurrent: true }, { isCurrent: true }]);
});

test('exceeds the higher generation of a gateway that answers late', async () => {
  const [late, good] = [new MemoryAgent(), new MemoryAgent()];
  late.generation = 9_000_000_000_000;
  late.mode = 'fails';
  const { fleet, clock } = await start(late, good);
  fleet.setService('default/a', [frontend('a')]);
  fleet.setService('default/a', []);
  run(fleet);
  await settled();
  expect(fleet.mayAnnounce(address)).toEqual(['g1']);
  late.mode = 'works';
  await clock.advance(20_000);
  expect(late.generation).toBeGreaterThan(9_000_000_000_000);
  expect(good.generation).toBe(late.generation);
  expect(good.pushes.at(-1)?.header.kind).toBe('delta');
  expect(fleet.mayAnnounce(address)).toEqual([]);
});

test('recovers from a lost answer with a newer push', async () => {
  const agent = new MemoryAgent();
  const { fleet, clock } = await start(agent);
  run(fleet);
  await settled();
  const take = agent.push.bind(agent);
  vi.spyOn(agent, 'push').mockImplementationOnce(async (lines, signal) => {
    await take(lines, signal);
    throw new CausewayError('unavailable', 'the line broke');
  });
  const generation = fleet.setService('default/a', [frontend('a')]);
  await clock.advance(20_000);
  expect(fleet.servingSince(generation, [frontend('a')])).toEqual({ kind: 'served' });
  expect(agent.pushes).toHaveLength(3);
});

test('reports a gateway that rejects every push as down, and retries with a growing delay', async () => {
  const agent = new MemoryAgent();
  const { fleet, clock } = await start(agent);
  run(fleet);
  await settled();
  agent.isFrozen = true;
  const pushed = vi.spyOn(agent, 'push');
  fleet.setService('default/a', [frontend('a')]);
  await clock.advance(60_000);
  expect(pushed.mock.calls.length).toBeLessThan(15);
  const [standing] = fleet.standings();
  expect(standing).toMatchObject({ failure: 'frozen', isCurrent: false });
  expect(standing?.downForMs).toBeGreaterThan(50_000);
  agent.isFrozen = false;
  await clock.advance(20_000);
  expect(fleet.standings()).toMatchObject([{ downForMs: undefined, isCurrent: true }]);
});

test('does not push to a returning gateway that is up to date, frozen or not', async () => {
  const agent = new MemoryAgent();
  const { fleet, clock } = await start(agent);
  run(fleet);
  await settled();
  agent.mode = 'fails';
  await clock.advance(61_000);
  expect(fleet.standings()).toMatchObject([{ failure: 'no route' }]);
  agent.mode = 'works';
  agent.isFrozen = true;
  await clock.advance(20_000);
  expect(fleet.standings()).toMatchObject([{ downForMs: undefined, isCurrent: true }]);
  expect(agent.pushes).toHaveLength(1);
});

test('reports a rejection only for its frontend, until a new push for it', async () => {
  const [one, two] = [new MemoryAgent(), new MemoryAgent()];
  two.dislikes.add(frontendKey(frontend('bad', 81)));
  const { fleet } = await start(one, two);
  const good = fleet.setService('default/good', [frontend('good')]);
  const bad = fleet.setService('default/bad', [frontend('bad', 81)]);
  run(fleet);
  await settled();
  expect(fleet.servingSince(good, [frontend('good')])).toEqual({ kind: 'served' });
  const wrong = { kind: 'wrong', messages: ['TCP/81: g2: rejected by the test'] };
  expect(fleet.servingSince(bad, [frontend('bad', 81)])).toEqual(wrong);
  expect(complaints).toEqual(['default/bad']);
  // A push for another Service does not clear the rejection.
  fleet.setService('default/other', [frontend('other', 82)]);
  await settled();
  expect(fleet.servingSince(bad, [frontend('bad', 81)])).toEqual(wrong);
  two.dislikes.clear();
  const better = { ...frontend('bad', 81), affinity: 'client' } as const;
  const mended = fleet.setService('default/bad', [better]);
  await settled();
  expect(fleet.servingSince(mended, [better])).toEqual({ kind: 'served' });
  expect(complaints).toEqual(['default/bad', 'default/bad']);
});

test('merges the unhealthy backends of all gateways and sends them to all', async () => {
  const [one, two] = [new MemoryAgent(), new MemoryAgent()];
  const { fleet, clock } = await start(one, two);
  run(fleet);
  await settled();
  expect([one.handed, two.handed]).toEqual([[], []]);
  one.sees = ['10.0.0.7', 'nonsense'];
  one.sendStatus();
  await settled();
  expect([one.handed, two.handed]).toEqual([['10.0.0.7'], ['10.0.0.7']]);
  // A gateway without a status stream is ignored, and receives everything when it is back.
  one.mode = 'fails';
  one.sendStatus();
  await settled();
  expect(two.handed).toEqual([]);
  two.sees = ['10.0.0.8'];
  two.sendStatus();
  await settled();
  expect([one.handed, two.handed]).toEqual([['10.0.0.7'], ['10.0.0.8']]);
  one.mode = 'works';
  one.sees = [];
  await clock.advance(20_000);
  expect(one.handed).toEqual(['10.0.0.8']);
});

test('reopens a status stream that died without an error', async () => {
  const agent = new MemoryAgent();
  const { fleet, clock } = await start(agent);
  run(fleet);
  await settled();
  agent.mode = 'hangs';
  await clock.advance(32_000);
  agent.handed = undefined;
  agent.mode = 'works';
  await clock.advance(20_000);
  expect(agent.handed).toEqual([]);
});

test('resends the unhealthy backends at intervals, so that a gateway detects a missing controller', async () => {
  const agent = new MemoryAgent();
  const { fleet, clock } = await start(agent);
  run(fleet);
  await settled();
  for (let round = 0; round < 3; round += 1) {
    agent.handed = undefined;
    await clock.advance(10_000);
    expect(agent.handed).toEqual([]);
  }
});

test("shows each gateway's generation, also of a gateway that is behind", async () => {
  const metrics = new PrometheusMetrics();
  const [good, slow] = [new MemoryAgent(), new MemoryAgent()];
  const { fleet, clock } = await startWith(metrics, good, slow);
  const first = fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await settled();
  slow.mode = 'fails';
  const second = fleet.setService('default/b', [frontend('b', 81)]);
  await clock.advance(1_000);
  expect(fleet.standings()).toMatchObject([
    { name: 'g1', generation: second, isCurrent: true },
    { name: 'g2', generation: first, isCurrent: false, failure: 'no route' },
  ]);
  const text = await metrics.render();
  expect(text).toContain(`causeway_gateway_generation{gateway="g1"} ${second}`);
  expect(text).toContain(`causeway_gateway_generation{gateway="g2"} ${first}`);
  expect(text).toContain(`causeway_gateway_wanted_generation ${second}`);
});

test('sends an older gateway what it understands, and the full state after its upgrade', async () => {
  const [old, young] = [new MemoryAgent(), new MemoryAgent()];
  old.revisions = { oldest: 1, newest: 1 };
  young.revisions = { oldest: 2, newest: 3 };
  const { fleet, clock } = await start(old, young);
  const routed = makeFrontend({ ...frontend('a'), destinations: undefined, routedTo: 'nodes' });
  fleet.setService('default/a', [routed]);
  run(fleet);
  await settled();
  const held = (agent: MemoryAgent) => agent.holds.get(frontendKey(routed))?.routedTo;
  expect([held(old), held(young)]).toEqual([undefined, 'nodes']);
  old.revisions = { oldest: 1, newest: 2 };
  await clock.advance(60_000);
  await clock.advance(60_000);
  expect(held(old)).toBe('nodes');
  old.revisions = { oldest: 1, newest: 1 };
  fleet.setService('default/b', [frontend('b', 81)]);
  await clock.advance(60_000);
  expect([held(old), old.holds.size]).toEqual([undefined, 2]);
});
