import { Dice } from './dice.ts';
import {
  faultKindsOn,
  type FaultKind,
  type FaultName,
  type Ground,
  type Touched,
} from './fault-kinds.ts';
import { ImaginedUser, type Operation, type ServiceClass } from './imagined-user.ts';

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

/** A period of faults and changes. A period without faults follows, until everything has recovered. */
export interface Round {
  readonly number: number;
  readonly faults: readonly PlannedFault[];
  readonly operations: readonly PlannedOperation[];
}

const stormMs = 25_000;
/** One gateway recovers before the other one fails; otherwise no gateway could serve. */
const recoveryMs = 10_000;

/** Plan of each round, by the seed alone: slower machines get the same plan. */
export function* planRounds(
  seed: number,
  ground: Ground,
  only?: ReadonlySet<string>,
  classes?: readonly ServiceClass[],
): Generator<Round> {
  const dice = new Dice(seed);
  const user = new ImaginedUser(dice, classes);
  const kinds = faultKindsOn(ground).filter(({ name }) => only?.has(name) !== false);
  for (let number = 1; ; number += 1) {
    const count = number === 1 ? 8 : dice.between(4, 9);
    const times = Array.from({ length: count }, () => dice.between(0, stormMs));
    const operations = times
      .sort((left, right) => left - right)
      .map((atMs) => ({ atMs, operation: number === 1 ? user.create() : user.next() }));
    // The first round creates some Services, and shows that everything works without faults.
    const faults = number === 1 || kinds.length === 0 ? [] : planFaults(dice, kinds);
    yield { number, operations, faults };
  }
}

function planFaults(dice: Dice, kinds: readonly FaultKind[]): PlannedFault[] {
  const planned: PlannedFault[] = [];
  const wanted = dice.between(2, 5);
  // Draws that don't fit are skipped, not moved, so that this ends.
  for (let draw = 0; draw < wanted * 3 && planned.length < wanted; draw += 1) {
    const { name, on, seconds, touches } = dice.pick(kinds);
    const candidate: PlannedFault = {
      atMs: dice.between(0, stormMs - 5_000),
      forMs: dice.between(seconds[0] * 1000, seconds[1] * 1000),
      fault: { name, place: dice.pick(on), touches },
    };
    if (planned.every((other) => areCompatible(other, candidate))) planned.push(candidate);
  }
  return planned.sort((left, right) => left.atMs - right.atMs);
}

/** Two faults at once must not undo each other, and one of the two gateways stays without faults. */
function areCompatible(one: PlannedFault, other: PlannedFault): boolean {
  const sharesPlace = machineOf(one.fault.place) === machineOf(other.fault.place);
  const bothOfTraffic = one.fault.touches === 'traffic' && other.fault.touches === 'traffic';
  if (!sharesPlace && !bothOfTraffic) return true;
  const [first, second] = one.atMs <= other.atMs ? [one, other] : [other, one];
  return first.atMs + first.forMs + recoveryMs <= second.atMs;
}

/**
 * `g1 external` is a part of `g1`; all etcd members are one; a path between two components is a place of its
 * own.
 */
function machineOf(place: string): string {
  if (place.includes(' to ')) return place;
  return place.startsWith('etcd') ? 'etcd' : (place.split(' ')[0] ?? place);
}
