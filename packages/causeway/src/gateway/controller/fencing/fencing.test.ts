import { afterEach, expect, test } from 'vitest';
import { makeFrontend } from '../../protocol/frontend.ts';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort } from '@causeway/base/address/port';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics, type Metrics } from '@causeway/base/observability/metrics';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { seededRandom } from '@causeway/base/simulation/random';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { supervise } from '@causeway/base/work/supervisor';
import type { AddressPairWriter } from './address-pair-writer.ts';
import { AgentFleet } from '../fleet/agent-fleet.ts';
import { Fencing } from './fencing.ts';
import { MemoryAgent } from '../fleet/testing/memory-agent.ts';
import type { Work } from '../reasons/decide-work.ts';
import { followReasons } from '../fleet/follow-reasons.testing.ts';
import { ReasonQueue } from '../reasons/reason-queue.ts';
import { verifiesAll } from '../fleet/removal-verifiers.testing.ts';
import { PortKeeper } from '../ports/port-keeper.ts';
import { MemoryAddressRecords } from '../ports/memory-address-records.testing.ts';
import { StaticPortManager } from '../ports/static-port-manager.ts';
import { parseStaticAddresses } from '../ports/static-addresses.ts';

const address = parseAddress('192.0.2.1');
const port = parsePort(80);

/** Address pairs in memory. */
class MemoryAddressPairWriter implements AddressPairWriter {
  readonly grain: 'address' | 'gateway';
  readonly through = new Map<string, Set<Address>>();

  constructor(grain: 'address' | 'gateway') {
    this.grain = grain;
  }

  isOpen = (gateway: string, each: Address) => this.through.get(gateway)?.has(each) === true;
  canShut = () => true;
  inspect = () => Promise.resolve([]);
  hole: string | undefined;
  leftOpen = () => this.hole;

  limit = Number.POSITIVE_INFINITY;

  open(gateway: string, addresses: Iterable<Address>): Promise<void> {
    const all = [...new Set([...(this.through.get(gateway) ?? []), ...addresses])];
    this.through.set(gateway, new Set(all.slice(0, this.limit)));
    const failure = new CausewayError('exhausted', 'no room');
    return all.length > this.limit ? Promise.reject(failure) : Promise.resolve();
  }

  shut(gateway: string, addresses: Iterable<Address>): Promise<void> {
    if (this.grain === 'gateway') this.through.delete(gateway);
    else for (const each of addresses) this.through.get(gateway)?.delete(each);
    return Promise.resolve();
  }
}

let stop = new AbortController();
let ended: Promise<void> | undefined;
afterEach(async () => {
  stop.abort();
  await ended;
});

/** Two gateways that serve one address. */
async function start(grain: 'address' | 'gateway', metrics: Metrics = noMetrics) {
  stop = new AbortController();
  const clock = new SimulatedClock();
  const agents = [new MemoryAgent(), new MemoryAgent()] as const;
  const asked = new Set<string>();
  const reasons = new ReasonQueue();
  const keeper = new PortKeeper(
    new StaticPortManager(
      { ranges: [parseStaticAddresses('192.0.2.1-192.0.2.9')] },
      new MemoryAddressRecords(),
    ),
    () => 'marker',
    reasons,
  );
  const pairWriter = new MemoryAddressPairWriter(grain);
  const common = { clock, log: discardLog, reasons };
  const fleet = new AgentFleet({
    verifier: verifiesAll,
    ...common,
    metrics,
    random: seededRandom(1),
    agents: new Map([
      ['g1', agents[0]],
      ['g2', agents[1]],
    ]),
    limitMs: 1_000,
    checkEveryMs: 10_000,
  });
  const fencing = new Fencing({
    ...common,
    pairWriter,
    keeper,
    fleet,
    askedFor: () => asked,
    fenceAfterMs: 60_000,
    restMs: 30_000,
  });
  await fleet.start(stop.signal);
  const needs = [{ protocol: 'TCP' as const, port }];
  await keeper.reserve(
    { owner: 'a', family: 4, needs, sharingGroup: 'x', namespace: 'default' },
    stop.signal,
  );
  fleet.setService('default/a', [
    makeFrontend({ address, protocol: 'TCP', port, service: 'default/a', destinations: [] }),
  ]);
  fleet.complete();
  const tend = ({ actions }: Work) => {
    if (actions.has('tend-fences')) fencing.request();
  };
  ended = supervise(stop.signal, {
    reasons: (inner) => followReasons(reasons, fleet, inner, tend),
    fleet: (inner) => fleet.run(inner),
    fencing: (inner) => fencing.run(inner),
  });
  await clock.advance(1_000);
  return { clock, agents, asked, keeper, pairWriter, fleet, fencing };
}

test('opens an address on every gateway before it counts as served', async () => {
  const { fencing, pairWriter, clock } = await start('gateway');
  expect(fencing.notLetThrough([address])).toEqual([]);
  pairWriter.through.delete('g2');
  expect(fencing.notLetThrough([address])).toEqual(['g2']);
  await clock.advance(15_000);
  expect(fencing.notLetThrough([address])).toEqual([]);
});

test('shows a fence in the metrics at once, without an answer of a gateway', async () => {
  const metrics = new PrometheusMetrics();
  const { fencing, asked, clock } = await start('gateway', metrics);
  expect(await metrics.render()).toContain('causeway_gateway_fenced{gateway="g2"} 0');
  asked.add('g2');
  fencing.request();
  await clock.advance(1_000);
  expect(await metrics.render()).toContain('causeway_gateway_fenced{gateway="g2"} 1');
});

test('checks the address pairs again on request, and restores removed ones', async () => {
  const { fencing, pairWriter, clock } = await start('address');
  let checks = 0;
  pairWriter.inspect = () => {
    checks += 1;
    // Only a check detects that the pair was removed.
    pairWriter.through.delete('g1');
    return Promise.resolve([]);
  };
  await fencing.check(stop.signal);
  await clock.advance(1_000);
  expect(checks).toBe(1);
  expect(fencing.notLetThrough([address])).toEqual([]);
});

test('keeps a fenced gateway blocked after its address was opened from outside', async () => {
  const { fencing, pairWriter, asked, clock } = await start('gateway');
  asked.add('g2');
  fencing.request();
  await clock.advance(15_000);
  expect(pairWriter.isOpen('g2', address)).toBe(false);
  pairWriter.through.set('g2', new Set([address]));
  await fencing.check(stop.signal);
  await clock.advance(15_000);
  expect(pairWriter.isOpen('g2', address)).toBe(false);
});

const second = parseAddress('192.0.2.2');
const another = {
  owner: 'b',
  family: 4 as const,
  sharingGroup: 'y',
  namespace: 'other',
  needs: [{ protocol: 'TCP' as const, port }],
};

test('opens as many addresses as fit, and gives the reason for the others', async () => {
  const { fencing, pairWriter, keeper, clock } = await start('address');
  pairWriter.limit = 1;
  await keeper.reserve(another, stop.signal);
  await clock.advance(15_000);
  expect(fencing.notLetThrough([address])).toEqual([]);
  expect(fencing.notLetThrough([second])).toEqual(['g1', 'g2']);
  expect(fencing.whyNot(['g1'])).toBe('no room');
  pairWriter.limit = 2;
  await clock.advance(15_000);
  expect(fencing.notLetThrough([second])).toEqual([]);
  expect(fencing.whyNot(['g1'])).toBeUndefined();
});

test("does not wait for a gateway that can't be blocked, and lifts a fence even if not all addresses fit", async () => {
  const { fencing, pairWriter, asked, keeper, fleet, clock } = await start('address');
  const shut = pairWriter.shut.bind(pairWriter);
  pairWriter.shut = () => Promise.reject(new Error('Neutron is away'));
  asked.add('g1');
  await keeper.reserve(another, stop.signal);
  await clock.advance(15_000);
  expect(fencing.notLetThrough([second])).not.toContain('g2');
  pairWriter.shut = shut;
  await clock.advance(15_000);
  expect(fleet.standings()[0]).toMatchObject({ isFenced: true });
  pairWriter.limit = 1;
  asked.delete('g1');
  await clock.advance(15_000);
  expect(fleet.standings()[0]).toMatchObject({ isFenced: false });
  expect(fencing.whyNot(['g1'])).toBe('no room');
});

test('blocks the address of a port that another program deleted', async () => {
  const { fencing, pairWriter, keeper, clock } = await start('address');
  const reservation = await keeper.reserve(another, stop.signal);
  if (reservation.kind !== 'port') throw new Error('it is to have a port');
  await clock.advance(15_000);
  keeper.release('b');
  await keeper.retire(reservation.port, stop.signal);
  expect(pairWriter.isOpen('g1', second)).toBe(true);
  fencing.request();
  await clock.advance(15_000);
  expect([...pairWriter.through.values()].map((each) => [...each])).toEqual([[address], [address]]);
});

test('fences a dead gateway when another is active, and quarantines the address', async () => {
  const { clock, agents, fleet, keeper, fencing, pairWriter } = await start('gateway');
  agents[1].mode = 'fails';
  agents[1].sendStatus();
  fleet.setService('default/a', []);
  keeper.release('a');
  await clock.advance(100_000);
  expect(fencing.mayGo(address)).toBe(false);
  agents[0].role = 'active';
  agents[0].sendStatus();
  await clock.advance(15_000);
  expect(pairWriter.through.has('g2')).toBe(false);
  expect(fencing.mayGo(address)).toBe(false);
  await clock.advance(30_000);
  expect(fencing.mayGo(address)).toBe(true);
  // The returning gateway is opened only after it has confirmed its removals.
  await keeper.reserve(
    {
      owner: 'b',
      family: 4,
      needs: [{ protocol: 'TCP', port }],
      sharingGroup: 'y',
      namespace: 'default',
    },
    stop.signal,
  );
  expect(fleet.standings()[1]).toMatchObject({ isFenced: true });
  agents[1].mode = 'works';
  await clock.advance(30_000);
  expect(fleet.standings()[1]).toMatchObject({ isFenced: false });
  expect(agents[1].holds.size).toBe(0);
});

test('blocks only the waiting address if single addresses can be blocked', async () => {
  const { clock, agents, fleet, keeper, fencing, pairWriter } = await start('address');
  const needs = [{ protocol: 'TCP' as const, port }];
  await keeper.reserve(
    { owner: 'b', family: 4, needs, sharingGroup: 'y', namespace: 'default' },
    stop.signal,
  );
  const other = parseAddress('192.0.2.2');
  await clock.advance(15_000);
  expect(pairWriter.isOpen('g2', other)).toBe(true);
  agents[1].mode = 'fails';
  agents[1].sendStatus();
  fleet.setService('default/a', []);
  keeper.release('a');
  await clock.advance(90_000);
  expect([pairWriter.isOpen('g2', address), pairWriter.isOpen('g2', other)]).toEqual([false, true]);
  expect(fencing.mayGo(address)).toBe(false);
  await clock.advance(30_000);
  expect(fencing.mayGo(address)).toBe(true);
  await fencing.letGo(address, stop.signal);
  expect(pairWriter.isOpen('g1', address)).toBe(false);
});

test('fences an answering gateway for an operator until the fence is removed', async () => {
  const { clock, asked, fleet, pairWriter } = await start('gateway');
  asked.add('g1');
  await clock.advance(15_000);
  expect(fleet.standings()[0]).toMatchObject({ isFenced: true, downForMs: undefined });
  expect([pairWriter.through.has('g1'), pairWriter.through.has('g2')]).toEqual([false, true]);
  asked.clear();
  await clock.advance(15_000);
  expect(fleet.standings()[0]).toMatchObject({ isFenced: false });
  expect(pairWriter.isOpen('g1', address)).toBe(true);
});

test.each(['gateway', 'address'] as const)(
  'does not count a fence while something else leaves the address open: by %s',
  async (grain) => {
    const { clock, agents, fleet, keeper, fencing, pairWriter } = await start(grain);
    pairWriter.hole = "an operator's pair";
    agents[0].role = 'active';
    agents[0].sendStatus();
    agents[1].mode = 'fails';
    agents[1].sendStatus();
    fleet.setService('default/a', []);
    keeper.release('a');
    await clock.advance(200_000);
    expect(pairWriter.isOpen('g2', address)).toBe(false);
    expect(fleet.mayAnnounce(address)).toEqual(['g2']);
    expect(fencing.mayGo(address)).toBe(false);
    pairWriter.hole = undefined;
    await clock.advance(15_000);
    expect(fleet.mayAnnounce(address)).toEqual([]);
  },
);

test("keeps an operator's fence blocked while something else leaves the address open, without counting it", async () => {
  const { clock, asked, fleet, pairWriter } = await start('gateway');
  pairWriter.hole = 'an old pair';
  asked.add('g1');
  await clock.advance(30_000);
  expect(fleet.standings()[0]).toMatchObject({ isFenced: false });
  expect(pairWriter.through.has('g1')).toBe(false);
  pairWriter.hole = undefined;
  await clock.advance(15_000);
  expect(fleet.standings()[0]).toMatchObject({ isFenced: true });
});

test("trusts an operator's fence if nothing can be blocked", async () => {
  const { clock, asked, fleet, pairWriter } = await start('gateway');
  pairWriter.hole = 'port security is off';
  pairWriter.canShut = () => false;
  asked.add('g1');
  await clock.advance(15_000);
  expect(fleet.standings()[0]).toMatchObject({ isFenced: true });
});
