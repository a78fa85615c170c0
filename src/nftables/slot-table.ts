import type { Endpoint } from './virtual-service.ts';

/**
 * Which endpoint answers for which slot. A client is hashed to a slot, so this table decides who
 * serves whom. It is a pure function of the set of endpoints, their weights and the seed, never of
 * history: every gateway computes the same one.
 *
 * Each endpoint has a few tokens on a circle, one in each equal sector of it. All tokens grow to
 * both sides at the pace of their endpoint's weight, taking the slots they reach first, until their
 * endpoint has its share and a little more. What a token takes depends on the circle, hardly on the
 * number of slots it is cut into; so when the table doubles, slot s becomes 2s and 2s + 1 and nearly
 * all keep their endpoint. The allowance over the exact share is what keeps a change local.
 * docs/decisions/0050-slot-tables.md has the figures.
 */
export function buildSlotTable(endpoints: readonly Endpoint[], seed: number): readonly Endpoint[] {
  const parties = canonicalOrder(endpoints, seed);
  const [only] = parties;
  if (only === undefined) return [];
  if (parties.length === 1) return [only.endpoint];
  const size = slotCount(endpoints);
  return fill(parties, size);
}

/** Sizes for up to four endpoints; from then on sixteen slots for each, rounded up to a power of two. */
const smallTables = [0, 1, 8, 32, 64] as const;

/** Every size a table can have. */
export const tableSizes: readonly number[] = [
  1,
  8,
  ...Array.from({ length: 13 }, (_, doublings) => 32 * 2 ** doublings),
];

/** How many slots a table has: a power of two, few for few endpoints. */
export function slotCount(endpoints: readonly Endpoint[]): number {
  const shares = effectiveShares(endpoints);
  return smallTables[shares] ?? Math.min(nextPowerOfTwo(shares) * slotsPerEndpoint, largestTable);
}

const tokensPerEndpoint = 5;
const slotsPerEndpoint = 16;
const largestTable = 131_072;
/** No endpoint gets more than this multiple of its exact share. More room means fewer slots that move. */
const allowance = 1.15;
/** Among unequal endpoints a heavy one's allowance would come out of the light ones' shares. */
const weightedAllowance = 1;

interface Party {
  readonly endpoint: Endpoint;
  readonly identity: string;
  readonly hash: number;
  readonly weight: number;
}

/** One side of a token, on its way around the circle. */
interface Front {
  readonly party: number;
  readonly step: 1 | -1;
  readonly start: number;
  /** From the token to the middle of the first slot, in slots. */
  readonly distance: number;
  readonly pace: number;
  travelled: number;
}

function canonicalOrder(endpoints: readonly Endpoint[], seed: number): Party[] {
  const parties = new Map<string, Party>();
  for (const endpoint of endpoints) {
    const identity = `${endpoint.address} ${endpoint.port}`;
    const hash = hashText(identity, seed);
    parties.set(identity, { endpoint, identity, hash, weight: endpoint.weight ?? 1 });
  }
  return [...parties.values()].sort(
    (a, b) => a.hash - b.hash || (a.identity < b.identity ? -1 : 1),
  );
}

function fill(parties: readonly Party[], size: number): Endpoint[] {
  const total = parties.reduce((sum, party) => sum + party.weight, 0);
  const equal = parties.every((party) => party.weight === parties[0]?.weight);
  const room = equal ? allowance : weightedAllowance;
  const caps = parties.map((party) => capacity((size * party.weight) / total, room));
  const held = new Int32Array(parties.length);
  const owner = new Int32Array(size).fill(-1);
  let fronts = buildFronts(parties, size);
  let free = size;
  // Time passes in steps in which the fastest that are still growing advance by one slot.
  for (let time = 1; free > 0; time += 1 / fastestPace(fronts)) {
    for (const front of fronts) {
      const cap = caps[front.party] ?? 0;
      let holding = held[front.party] ?? 0;
      while (holding < cap && front.distance + front.travelled <= time * front.pace) {
        const slot = modulo(front.start + front.step * front.travelled, size);
        front.travelled += 1;
        if (owner[slot] !== -1) continue;
        owner[slot] = front.party;
        holding += 1;
        free -= 1;
      }
      held[front.party] = holding;
    }
    fronts = fronts.filter(({ party }) => (held[party] ?? 0) < (caps[party] ?? 0));
  }
  return Array.from(owner, (index) => endpointAt(parties, index));
}

function fastestPace(fronts: readonly Front[]): number {
  return fronts.reduce((fastest, { pace }) => Math.max(fastest, pace), Number.MIN_VALUE);
}

function capacity(share: number, room: number): number {
  return Math.max(Math.ceil(share), Math.floor(share * room));
}

/** Both sides of every token, in the order in which they reach their first slot. */
function buildFronts(parties: readonly Party[], size: number): Front[] {
  const heaviest = parties.reduce((most, party) => Math.max(most, party.weight), 0);
  const fronts: Front[] = [];
  for (const [index, party] of parties.entries()) {
    const pace = party.weight / heaviest;
    for (let token = 0; token < tokensPerEndpoint; token += 1) {
      const within = mixPair(party.hash, token) / 2 ** 32;
      const position = ((token + within) / tokensPerEndpoint) * size;
      const right = Math.ceil(position - 0.5);
      const ahead = right + 0.5 - position;
      const shared = { party: index, pace, travelled: 0 };
      fronts.push({ ...shared, step: 1, start: right, distance: ahead });
      fronts.push({ ...shared, step: -1, start: right - 1, distance: 1 - ahead });
    }
  }
  return fronts.sort((a, b) => a.distance / a.pace - b.distance / b.pace || a.party - b.party);
}

/** How many equal endpoints it would take to express the weights, within reason. */
function effectiveShares(endpoints: readonly Endpoint[]): number {
  const count = endpoints.length;
  if (count < 2) return count;
  let total = 0;
  let lightest = Number.POSITIVE_INFINITY;
  for (const { weight = 1 } of endpoints) {
    total += weight;
    lightest = Math.min(lightest, weight);
  }
  return Math.max(count, Math.min(Math.ceil(total / lightest), 8 * count, 1024));
}

function endpointAt(parties: readonly Party[], index: number): Endpoint {
  const party = parties[index];
  if (party === undefined) throw new RangeError(`no endpoint has the number ${index}`);
  return party.endpoint;
}

function nextPowerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(value));
}

function modulo(value: number, size: number): number {
  return ((value % size) + size) % size;
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
