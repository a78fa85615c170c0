import { seededRandom } from '../../src/runtime/random.ts';
import { faultKinds, type FaultKind, type FaultName, type Touched } from './fault-kinds.ts';

export const podNames = ['p1', 'p2'] as const;
export type PodName = (typeof podNames)[number];

/** What a user does to a Service. */
export type Operation =
  | {
      readonly kind: 'create';
      readonly service: string;
      readonly port: number;
      readonly targetPort: number;
      readonly pods: readonly PodName[];
    }
  | { readonly kind: 'change port'; readonly service: string; readonly port: number }
  | { readonly kind: 'scale'; readonly service: string; readonly pods: readonly PodName[] }
  | { readonly kind: 'delete'; readonly service: string };

export interface Fault {
  readonly name: FaultName;
  readonly place: string;
  readonly touches: Touched;
}

/** Times count from the beginning of the round. */
export interface PlannedFault {
  readonly atMs: number;
  readonly forMs: number;
  readonly fault: Fault;
}

export interface PlannedOperation {
  readonly atMs: number;
  readonly operation: Operation;
}

/** Some time of faults and changes. After it comes a calm, which lasts until everything is right again. */
export interface Round {
  readonly number: number;
  readonly faults: readonly PlannedFault[];
  readonly operations: readonly PlannedOperation[];
}

const stormMs = 25_000;
/** One gateway has recovered before the other one is touched, or nobody could serve. */
const recoveryMs = 10_000;
const mostServices = 10;
/** Pods listen on so many ports from here on, each Service's own. */
export const firstTargetPort = 9000;
export const targetPorts = 32;

interface PlannedService {
  readonly name: string;
  readonly targetPort: number;
}

/** What happens in each round, by the seed alone: machines that are slower get the same. */
export function* planRounds(seed: number, only?: ReadonlySet<string>): Generator<Round> {
  const dice = new Dice(seed);
  const user = new User(dice);
  const kinds: readonly FaultKind[] = faultKinds.filter(({ name }) => only?.has(name) !== false);
  for (let number = 1; ; number += 1) {
    const count = number === 1 ? 6 : dice.between(3, 8);
    const times = Array.from({ length: count }, () => dice.between(0, stormMs));
    const operations = times
      .sort((left, right) => left - right)
      .map((atMs) => ({ atMs, operation: number === 1 ? user.create() : user.next() }));
    // The first one makes something to begin with, and shows that all is well without any fault.
    const faults = number === 1 || kinds.length === 0 ? [] : planFaults(dice, kinds);
    yield { number, operations, faults };
  }
}

function planFaults(dice: Dice, kinds: readonly FaultKind[]): PlannedFault[] {
  const planned: PlannedFault[] = [];
  const wanted = dice.between(2, 5);
  // Some draws don't fit; they are left out instead of moved, so that this ends.
  for (let draw = 0; draw < wanted * 3 && planned.length < wanted; draw += 1) {
    const kind = dice.pick(kinds);
    const [shortest, longest] = kind.seconds;
    const candidate: PlannedFault = {
      atMs: dice.between(0, stormMs - 5_000),
      forMs: dice.between(shortest * 1000, longest * 1000),
      fault: { name: kind.name as FaultName, place: dice.pick(kind.on), touches: kind.touches },
    };
    if (planned.every((other) => areCompatible(other, candidate))) planned.push(candidate);
  }
  return planned.sort((left, right) => left.atMs - right.atMs);
}

/** Two at once must not undo each other, and of the two gateways one is left alone. */
function areCompatible(one: PlannedFault, other: PlannedFault): boolean {
  const sharesPlace = machineOf(one.fault.place) === machineOf(other.fault.place);
  const bothOfTraffic = one.fault.touches === 'traffic' && other.fault.touches === 'traffic';
  if (!sharesPlace && !bothOfTraffic) return true;
  const [first, second] = one.atMs <= other.atMs ? [one, other] : [other, one];
  return first.atMs + first.forMs + recoveryMs <= second.atMs;
}

/** `g1 external` is a part of `g1`; a way between two is a place of its own. */
function machineOf(place: string): string {
  return place.includes(' to ') ? place : (place.split(' ')[0] ?? place);
}

/** Who knows what there is by now, so that each operation makes sense. */
class User {
  readonly #dice: Dice;
  readonly #services: PlannedService[] = [];
  #created = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  next(): Operation {
    const dice = this.#dice;
    const service = this.#services.length === 0 ? undefined : dice.pick(this.#services);
    const choice = dice.below(10);
    if (service === undefined || (choice < 4 && this.#services.length < mostServices))
      return this.create();
    if (choice < 6) return { kind: 'scale', service: service.name, pods: this.#somePods() };
    if (choice < 8)
      return { kind: 'change port', service: service.name, port: this.#port(service.targetPort) };
    this.#services.splice(this.#services.indexOf(service), 1);
    return { kind: 'delete', service: service.name };
  }

  create(): Operation {
    const taken = new Set(this.#services.map(({ targetPort }) => targetPort));
    this.#created += 1;
    let targetPort = firstTargetPort + (this.#created % targetPorts);
    while (taken.has(targetPort)) targetPort += 1;
    const service = { name: `web-${this.#created}`, targetPort };
    this.#services.push(service);
    return {
      kind: 'create',
      service: service.name,
      targetPort,
      port: this.#port(targetPort),
      pods: this.#somePods(),
    };
  }

  /** Some that nobody else has, and some that others want as well, on the address they share. */
  #port(targetPort: number): number {
    return this.#dice.pick([80, 443, targetPort - 1000, targetPort - 2000]);
  }

  #somePods(): readonly PodName[] {
    return this.#dice.pick([podNames, podNames, ['p1'] as const, ['p2'] as const]);
  }
}

class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }
}
