import type { Backend } from './virtual-service.ts';

/**
 * Maps slots to backends. A client is hashed to a slot, so this table decides which backend serves it. It
 * is a pure function of the set of backends, their weights and the seed, never of history: every gateway
 * computes the same one.
 *
 * Each backend has a few tokens on a ring, one in each equal sector. All tokens grow in both directions, at
 * the pace of their backend's weight. They take the slots that they reach first, until their backend has
 * its share and a little more. The slots of a token depend on its position on the ring, hardly on the number
 * of slots. So when the table doubles, slot s becomes 2s and 2s + 1 and nearly all keep their backend. The
 * allowance over the exact share keeps a change local. docs/decisions/0050-slot-tables.md has the figures.
 */
export function buildSlotTable(backends: readonly Backend[], seed: number): readonly Backend[] {
  const parties = canonicalOrder(backends, seed);
  const [only] = parties;
  if (only === undefined) return [];
  if (parties.length === 1) return [only.backend];
  const size = slotCount(backends);
  return fill(parties, size);
}

/** Sizes for up to four backends; from then on sixteen slots for each, rounded up to a power of two. */
const smallTables = [0, 1, 8, 32, 64] as const;

/** All table sizes. */
export const tableSizes: readonly number[] = [
  1,
  8,
  ...Array.from({ length: 13 }, (_, doublings) => 32 * 2 ** doublings),
];

/** Number of slots of a table: a power of two, small for few backends. */
export function slotCount(backends: readonly Backend[]): number {
  const shares = effectiveShares(backends);
  return smallTables[shares] ?? Math.min(nextPowerOfTwo(shares) * slotsPerBackend, largestTable);
}

const tokensPerBackend = 5;
const slotsPerBackend = 16;
const largestTable = 131_072;
/**
 * No backend gets more than this multiple of its exact share. A larger allowance means that fewer slots
 * move.
 */
const allowance = 1.15;
/** Among unequal backends, the allowance of a heavy one would reduce the shares of the light ones. */
const weightedAllowance = 1;

interface Party {
  readonly backend: Backend;
  readonly identity: string;
  readonly hash: number;
  readonly weight: number;
}

/**
 * Both growth fronts of every token. Stored in parallel arrays: a thousand backends have ten thousand of
 * them.
 */
interface Fronts {
  readonly party: Int32Array;
  readonly step: Int8Array;
  readonly start: Int32Array;
  /** From the token to the middle of the first slot, in slots. */
  readonly distance: Float64Array;
  readonly travelled: Int32Array;
}

/** The table while it is filled. The arrays beside `owner` are indexed by party. */
interface Ring {
  readonly fronts: Fronts;
  readonly owner: Int32Array;
  readonly held: Int32Array;
  readonly caps: Int32Array;
  readonly paces: Float64Array;
}

function canonicalOrder(backends: readonly Backend[], seed: number): Party[] {
  const parties = new Map<string, Party>();
  for (const backend of backends) {
    const identity = `${backend.address} ${backend.port}`;
    const hash = hashText(identity, seed);
    parties.set(identity, { backend, identity, hash, weight: backend.weight ?? 1 });
  }
  return [...parties.values()].sort(
    (a, b) => a.hash - b.hash || (a.identity < b.identity ? -1 : 1),
  );
}

function fill(parties: readonly Party[], size: number): Backend[] {
  const total = parties.reduce((sum, party) => sum + party.weight, 0);
  const heaviest = parties.reduce((most, party) => Math.max(most, party.weight), 0);
  const equal = parties.every((party) => party.weight === heaviest);
  const room = equal ? allowance : weightedAllowance;
  const ring: Ring = {
    fronts: buildFronts(parties, size),
    caps: new Int32Array(parties.map(({ weight }) => capacity((size * weight) / total, room))),
    paces: new Float64Array(parties.map(({ weight }) => weight / heaviest)),
    owner: new Int32Array(size).fill(-1),
    held: new Int32Array(parties.length),
  };
  let growing = arrivals(ring);
  let free = size;
  // Time advances in steps in which the fastest growing fronts advance by one slot.
  for (let time = 1; free > 0; time += 1 / fastestPace(growing, ring)) {
    free -= advance(growing, time, ring);
    growing = stillGrowing(growing, ring);
  }
  return Array.from(ring.owner, (index) => backendAt(parties, index));
}

/**
 * Advances all fronts to the given time; they take free slots on their way. Returns the number of slots
 * taken.
 */
function advance(growing: Int32Array, time: number, ring: Ring): number {
  const { owner, held, caps, paces } = ring;
  const { party, step, start, distance, travelled } = ring.fronts;
  // Sizes are powers of two, so this mask wraps around in both directions.
  const around = owner.length - 1;
  let taken = 0;
  for (const front of growing) {
    const backend = party[front] ?? 0;
    const cap = caps[backend] ?? 0;
    const reach = time * (paces[backend] ?? 0);
    const lead = distance[front] ?? 0;
    let holding = held[backend] ?? 0;
    let way = travelled[front] ?? 0;
    while (holding < cap && lead + way <= reach) {
      const slot = ((start[front] ?? 0) + (step[front] ?? 0) * way) & around;
      way += 1;
      if (owner[slot] !== -1) continue;
      owner[slot] = backend;
      holding += 1;
      taken += 1;
    }
    travelled[front] = way;
    held[backend] = holding;
  }
  return taken;
}

/** The fronts of backends that have room left, compacted in place. */
function stillGrowing(growing: Int32Array, { fronts, held, caps }: Ring): Int32Array {
  let kept = 0;
  for (const front of growing) {
    const backend = fronts.party[front] ?? 0;
    if ((held[backend] ?? 0) >= (caps[backend] ?? 0)) continue;
    growing[kept] = front;
    kept += 1;
  }
  return growing.subarray(0, kept);
}

function fastestPace(growing: Int32Array, { fronts, paces }: Ring): number {
  let fastest = Number.MIN_VALUE;
  for (const front of growing) {
    fastest = Math.max(fastest, paces[fronts.party[front] ?? 0] ?? 0);
    // The heaviest backend has the highest pace.
    if (fastest === 1) break;
  }
  return fastest;
}

function capacity(share: number, room: number): number {
  return Math.max(Math.ceil(share), Math.floor(share * room));
}

function buildFronts(parties: readonly Party[], size: number): Fronts {
  const count = parties.length * tokensPerBackend * 2;
  const fronts: Fronts = {
    party: new Int32Array(count),
    step: new Int8Array(count),
    start: new Int32Array(count),
    distance: new Float64Array(count),
    travelled: new Int32Array(count),
  };
  let next = 0;
  const add = (party: number, step: 1 | -1, start: number, distance: number) => {
    fronts.party[next] = party;
    fronts.step[next] = step;
    fronts.start[next] = start;
    fronts.distance[next] = distance;
    next += 1;
  };
  for (const [index, { hash }] of parties.entries()) {
    for (let token = 0; token < tokensPerBackend; token += 1) {
      const within = mixPair(hash, token) / 2 ** 32;
      const position = ((token + within) / tokensPerBackend) * size;
      const right = Math.ceil(position - 0.5);
      const ahead = right + 0.5 - position;
      add(index, 1, right, ahead);
      add(index, -1, right - 1, 1 - ahead);
    }
  }
  return fronts;
}

/** All fronts, in the order in which they reach their first slot. */
function arrivals({ fronts: { party, distance }, paces }: Ring): Int32Array {
  const first = new Float64Array(distance.length);
  const order = new Int32Array(distance.length);
  for (let front = 0; front < first.length; front += 1) {
    first[front] = (distance[front] ?? 0) / (paces[party[front] ?? 0] ?? 1);
    order[front] = front;
  }
  return order.sort((a, b) => (first[a] ?? 0) - (first[b] ?? 0) || a - b);
}

/** Number of equal backends that would express the weights, within limits. */
function effectiveShares(backends: readonly Backend[]): number {
  const count = backends.length;
  if (count < 2) return count;
  let total = 0;
  let lightest = Number.POSITIVE_INFINITY;
  for (const { weight = 1 } of backends) {
    total += weight;
    lightest = Math.min(lightest, weight);
  }
  return Math.max(count, Math.min(Math.ceil(total / lightest), 8 * count, 1024));
}

function backendAt(parties: readonly Party[], index: number): Backend {
  const party = parties[index];
  if (party === undefined) throw new RangeError(`no backend has the number ${index}`);
  return party.backend;
}

function nextPowerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(value));
}

function hashText(text: string, seed: number): number {
  let hash = seed >>> 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return finish(hash);
}

function mixPair(hash: number, salt: number): number {
  return finish(Math.imul(hash ^ 0x9e3779b1, 0x01000193) ^ finish(salt + 0x7f4a7c15));
}

/** The finalizer of MurmurHash3: every input bit reaches every output bit. */
function finish(value: number): number {
  let hash = value;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
