import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CausewayError } from '../../../packages/base/src/error/causeway-error.ts';
import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { seededRandom, type Random } from '../../../packages/base/src/simulation/random.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { patienceMs } from '../../services/wait-for.ts';
import { breakThings } from './faults.ts';
import { prepareSite, startFleet, type Fleet } from './fleet.ts';
import { freeOnce } from './history.ts';
import { never } from './server-under-test.ts';

const available = await isAvailable(async () => {
  await ensureProgram('etcd');
});

const seconds = Number(process.env['IPAM_FAULT_SECONDS'] ?? 15);
const site = 'line';
const owners = 8;
/** A request that is repeated no later than this keeps its place. */
const placeLostMs = 14_000;
/**
 * Required number of requests that arrived while others were known to wait: otherwise the order proves
 * nothing.
 */
const enoughPairs = 40;

interface Ask {
  readonly begin: number;
  readonly end: number;
  readonly state: 'held' | 'waiting';
}

/** From an owner's first request to the one that got its address. */
interface Turn {
  readonly owner: string;
  readonly begin: number;
  readonly asks: Ask[];
}

describe.skipIf(!available)('a queue while servers, etcd and connections fail', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(3);
  });
  afterAll(() => fleet.stop());

  test(
    'a later request is never served before a waiting one',
    async () => {
      const [client] = fleet.clients;
      if (client === undefined) throw new Error('no client');
      await prepareSite(client, site, '10.0.0.1-10.0.0.2', { blue: 9, green: 9 });
      const serialQueue: Turn[] = [];
      const end = performance.now() + seconds * 1_000;
      const isOver = () =>
        performance.now() > end &&
        (pairs(serialQueue).length >= enoughPairs || performance.now() > end + patienceMs);
      const work = Array.from({ length: owners }, (_, index) =>
        alternate(fleet.clients, index, serialQueue, seededRandom(index), isOver),
      );
      await Promise.all([...work, breakThings(fleet, seededRandom(7), isOver)]);
      expect(pairs(serialQueue).length).toBeGreaterThanOrEqual(enoughPairs);
      expect(pairs(serialQueue).filter(([first, later]) => wasOvertaken(first, later))).toEqual([]);
    },
    (seconds + 500) * 1_000,
  );
});

/** Pairs where one was waiting before the other one's first request, and kept its place throughout. */
function pairs(serialQueue: readonly Turn[]): [Turn, Turn][] {
  return serialQueue.flatMap((first) => {
    const waiting = first.asks.find(({ state }) => state === 'waiting');
    if (waiting === undefined || !keptItsPlace(first)) return [];
    const later = serialQueue.filter(({ begin }) => begin > waiting.end && begin < endOf(first));
    return later.map((each): [Turn, Turn] => [first, each]);
  });
}

function endOf({ asks }: Turn): number {
  return asks.at(-1)?.end ?? Number.POSITIVE_INFINITY;
}

function keptItsPlace({ asks }: Turn): boolean {
  return asks.every(({ end }, index) => end - (asks[index - 1]?.begin ?? end) < placeLostMs);
}

/** It still had to wait after the later one got its address. */
function wasOvertaken(first: Turn, later: Turn): boolean {
  const held = later.asks.find(({ state }) => state === 'held');
  if (held === undefined) return false;
  return first.asks.some(({ state, begin }) => state === 'waiting' && begin > held.end);
}

async function alternate(
  servers: readonly IpamClient[],
  index: number,
  serialQueue: Turn[],
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  const cluster = index % 2 === 0 ? 'blue' : 'green';
  const owner = `owner-${index}`;
  for (let attempt = index; !isOver(); ) {
    const turn: Turn = { owner, begin: performance.now(), asks: [] };
    serialQueue.push(turn);
    let fencingToken: number | undefined;
    while (fencingToken === undefined && !isOver()) {
      attempt += 1;
      const server = servers[attempt % servers.length];
      const begin = performance.now();
      const asked = { params: { site, cluster }, body: { uid: owner, waitMs: 500 } };
      const answer = await server?.call('reserve', asked, never).catch(unlessAway);
      if (answer === undefined) continue;
      turn.asks.push({ begin, end: performance.now(), state: answer.state });
      if (answer.state === 'held') fencingToken = answer.reservation.fencingToken;
    }
    await delay(random() * 100);
    if (fencingToken !== undefined)
      attempt = await freeAnywhere(servers, cluster, owner, fencingToken, attempt);
  }
}

async function freeAnywhere(
  servers: readonly IpamClient[],
  cluster: string,
  owner: string,
  fencingToken: number,
  attempt: number,
): Promise<number> {
  for (let next = attempt; ; next += 1) {
    const server = servers[next % servers.length];
    if (server === undefined) throw new Error('no server');
    const freed = await freeOnce(server, site, cluster, owner, fencingToken).catch(unlessAway);
    if (freed !== undefined) return next;
  }
}

/** The error of a server that is being killed or stopped is not an answer. */
async function unlessAway(error: unknown): Promise<undefined> {
  const { code } = CausewayError.from(error);
  if (code !== 'unavailable' && code !== 'timeout') throw error;
  await delay(20);
}
