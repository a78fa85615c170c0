import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom, type Random } from '../../../packages/base/src/simulation/random.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { startTcpProxy } from '../../services/tcp-proxy.ts';
import { patienceMs, waitFor } from '../../services/wait-for.ts';
import { breakThings } from './faults.ts';
import { prepareSite, startFleet, type Fleet } from './fleet.ts';
import {
  beatOnce,
  clientOf,
  freeOnce,
  History,
  listOnce,
  reclaimOnce,
  reserveOnce,
  type Shares,
} from './history.ts';
import { never } from './server-under-test.ts';

const available = await isAvailable(async () => {
  await ensureProgram('etcd');
  await ensureProgram('porcupine');
});

/** The long version: IPAM_FAULT_SECONDS=600 npx vitest run test/contract/ipam/linearizability.test.ts */
const seconds = Number(process.env['IPAM_FAULT_SECONDS'] ?? 25);
const seed = Number(process.env['IPAM_FAULT_SEED'] ?? 1);
const site = 'edge';
const pool = 6;
const quotas = { blue: 3, green: 3, red: 4 };
const clusters = Object.keys(quotas) as (keyof typeof quotas)[];

/** Each of these must happen in a history that is worth checking. */
const outcomes = [
  'reserve held',
  'reserve exhausted',
  'reserve quota',
  'free freed',
  'free stale',
  'reclaim voided',
  'heartbeat beaten',
];

function happened({ calls }: History): boolean {
  const seen = new Set(calls.map(({ input, output }) => `${input.kind} ${output.result}`));
  return outcomes.every((outcome) => seen.has(outcome));
}

/** For calls that have to succeed on a busy machine. */
const patientMs = 60_000;

describe.skipIf(!available)('three servers on three etcd members', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(3);
  });
  afterAll(() => fleet.stop());

  test(
    'every history is linearizable while servers, etcd and connections fail',
    async () => {
      const [client] = fleet.clients;
      if (client === undefined) throw new Error('no client');
      await prepareSite(client, site, '10.0.0.1-10.0.0.6', quotas);
      const history = new History();
      await share(fleet, history);
      const end = performance.now() + seconds * 1_000;
      // On a slow machine it takes longer until everything has happened.
      const isOver = () =>
        performance.now() > end && (happened(history) || performance.now() > end + patienceMs);
      const work = Array.from({ length: 9 }, (_, index) =>
        runOwner(fleet, history, index, seededRandom(seed * 100 + index), isOver),
      );
      const beats = clusters.map((cluster, index) =>
        sendBeats(
          fleet,
          history,
          20 + index,
          cluster,
          seededRandom(seed * 100 + 20 + index),
          isOver,
        ),
      );
      const reclaims = reclaimNowAndThen(fleet, history, seededRandom(seed * 100 + 30), isOver);
      const faults = breakThings(fleet, seededRandom(seed), isOver);
      await Promise.all([...work, ...beats, reclaims, faults]);
      // The faults restart every server that they kill.
      expect(fleet.servers.filter(({ process }) => !process.isRunning())).toEqual([]);
      // Acknowledged writes are present on every server.
      for (const [index, cluster] of clusters.flatMap((each) => [each, each, each]).entries()) {
        await history.record(90 + (index % 3), fleet.clients, { kind: 'holdings', cluster }, (at) =>
          listOnce(at, site, cluster),
        );
      }
      const results = Object.groupBy(
        history.calls,
        ({ input, output }) => `${input.kind} ${output.result}`,
      );
      const counts = Object.entries(results).map(([name, calls]) => [name, calls?.length ?? 0]);
      process.stderr.write(`${JSON.stringify(Object.fromEntries(counts))}\n`);
      expect(Object.keys(results)).toEqual(expect.arrayContaining(outcomes));
      expect(await history.judge(pool, quotas)).toBe('ok');
    },
    (seconds + 500) * 1_000,
  );

  test('a repeat after a server was killed between commit and answer gets the same address', async () => {
    const [victim, other] = fleet.servers;
    if (victim === undefined || other === undefined) throw new Error('no servers');
    const witness = clientOf(other.url, fleet.token);
    await prepareSite(witness, 'killed', '10.1.0.1-10.1.0.99', { blue: 50 });
    const line = await startTcpProxy(victim.port);
    const behind = clientOf(`http://127.0.0.1:${line.port}`, fleet.token);
    await reserveOnce(behind, 'killed', 'blue', 'before');
    line.mute();
    const lost = reserveOnce(behind, 'killed', 'blue', 'lost').catch((error: unknown) => error);
    const committed = await waitFor('the commit', async () => {
      const { listed } = await listOnce(witness, 'killed', 'blue');
      return listed?.['lost'];
    });
    victim.process.kill('SIGKILL');
    line.cut();
    expect(await lost).toMatchObject({ code: 'unavailable' });
    expect(await reserveOnce(witness, 'killed', 'blue', 'lost')).toMatchObject({
      result: 'held',
      address: committed,
    });
    await victim.restart();
    await Promise.all([witness.close(), behind.close(), line.close()]);
  });

  test('nothing leaks and everything is swept after a server was killed behind a tombstone', async () => {
    const [victim, other] = fleet.servers;
    if (victim === undefined || other === undefined) throw new Error('no servers');
    const doomed = clientOf(victim.url, fleet.token, patientMs);
    const witness = clientOf(other.url, fleet.token, patientMs);
    await prepareSite(doomed, 'voided', '10.2.0.1-10.2.0.150', { blue: 200, green: 200 });
    const fill = (client: typeof witness, cluster: string) =>
      Promise.all(
        Array.from({ length: 150 }, (_, index) =>
          reserveOnce(client, 'voided', cluster, `u${index}`),
        ),
      );
    await fill(doomed, 'blue');
    const params = { site: 'voided', cluster: 'blue' };
    const removed = await doomed.call(
      'removeCluster',
      { params, query: { withdrawn: 'true' } },
      never,
    );
    victim.process.kill('SIGKILL');
    expect(removed.addresses).toHaveLength(150);
    const again = await fill(witness, 'green');
    expect(new Set(again.map(({ address }) => address)).size).toBe(150);
    await victim.restart();
    await Promise.all([doomed.close(), witness.close()]);
  });
});

describe.skipIf(!available)('a queue over three servers', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(3);
  });
  afterAll(() => fleet.stop());

  test('is served in order, wherever requests wait and wherever an address is released', async () => {
    const [first, second, third] = fleet.clients;
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('no client');
    await prepareSite(first, 'queue', '10.3.0.1', { blue: 9, green: 9, red: 9 });
    const body = { quarantineMs: 300 };
    await first.call('setSite', { params: { site: 'queue' }, body }, never);
    const fencingTokens = new Map<string, number>();
    const wait = async (client: typeof first, cluster: string) => {
      const params = { site: 'queue', cluster };
      for (;;) {
        const asked = { uid: 'u', waitMs: 3_000 };
        const answer = await client.call('reserve', { params, body: asked }, never);
        if (answer.state === 'held')
          return void fencingTokens.set(cluster, answer.reservation.fencingToken);
      }
    };
    const isQueued = (position: number) =>
      waitFor(`${position} to wait`, async () => {
        const { items } = await third.call('listSites', { params: {} }, never);
        return items.find(({ name }) => name === 'queue')?.waiting === position;
      });
    const free = (client: typeof first, cluster: string) =>
      freeOnce(client, 'queue', cluster, 'u', fencingTokens.get(cluster) ?? 0);
    await wait(first, 'blue');
    const green = wait(second, 'green');
    await isQueued(1);
    const red = wait(first, 'red');
    await isQueued(2);
    expect(await free(third, 'blue')).toEqual({ result: 'freed' });
    await green;
    expect(fencingTokens.has('red')).toBe(false);
    expect(await free(first, 'green')).toEqual({ result: 'freed' });
    await red;
    expect(await listOnce(second, 'queue', 'red')).toMatchObject({ listed: { u: '10.3.0.1' } });
  });
});

/** Two owners on one address, so that every history has that. */
async function share(fleet: Fleet, history: History): Promise<void> {
  const addresses = new Set<string | undefined>();
  for (const client of [0, 3]) {
    const owner = `owner-${client}-1`;
    const shares = sharesOf(client, owner);
    const input = { kind: 'reserve' as const, cluster: 'blue', owner, ...shares };
    const output = await history.record(client, fleet.clients, input, (at) =>
      reserveOnce(at, site, 'blue', owner, shares),
    );
    addresses.add(output.address);
  }
  expect(addresses.size).toBe(1);
}

/** Every second owner shares an address with the others of its cluster; some ports conflict. */
function sharesOf(client: number, owner: string): Shares | undefined {
  if (!owner.endsWith('-1')) return undefined;
  return { sharingKey: 'together', port: `TCP/${80 + (client % 2)}` };
}

/** One controller's work on its own owners: reserve, repeat, release, and release too late. */
async function runOwner(
  fleet: Fleet,
  history: History,
  client: number,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  const cluster = clusters[client % clusters.length] ?? 'blue';
  const { clients } = fleet;
  const fencingTokens = new Map<string, { now?: number; before?: number }>();
  while (!isOver()) {
    const owner = `owner-${client}-${Math.floor(random() * 2)}`;
    const known = fencingTokens.get(owner) ?? {};
    const choice = random();
    if (choice < 0.5 || known.now === undefined) {
      const shares = sharesOf(client, owner);
      const input = { kind: 'reserve' as const, cluster, owner, ...shares };
      const output = await history.record(client, clients, input, (at) =>
        reserveOnce(at, site, cluster, owner, shares),
      );
      if (output.result === 'held' && output.fencingToken !== undefined)
        fencingTokens.set(owner, { ...known, now: output.fencingToken });
    } else {
      const late = choice > 0.9 && known.before !== undefined;
      const fencingToken = late ? (known.before ?? 0) : known.now;
      const input = { kind: 'free' as const, cluster, owner, fencingToken };
      await history.record(client, clients, input, (at) =>
        freeOnce(at, site, cluster, owner, fencingToken),
      );
      if (!late) fencingTokens.set(owner, { before: fencingToken });
    }
    await delay(random() * 20);
  }
}

/** A cluster's heartbeats: their answers contain its epoch. */
async function sendBeats(
  fleet: Fleet,
  history: History,
  client: number,
  cluster: string,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const input = { kind: 'heartbeat' as const, cluster };
    await history.record(client, fleet.clients, input, (at) => beatOnce(at, site, cluster));
    await delay(100 + random() * 200);
  }
}

/** An operator that reclaims everything from a cluster now and then, as the removal of a cluster does. */
async function reclaimNowAndThen(
  fleet: Fleet,
  history: History,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  for (let turn = 0; !isOver(); turn += 1) {
    await delay(400 + random() * 800);
    const cluster = clusters[Math.floor(random() * clusters.length)] ?? 'blue';
    const server = fleet.clients[turn % fleet.clients.length];
    if (server === undefined) return;
    const input = { kind: 'reclaim' as const, cluster };
    // Each attempt is a process of its own: it may still be running when the next one begins.
    await history.recordOnce(1_000 + turn, server, input, (at) => reclaimOnce(at, site, cluster));
  }
}
