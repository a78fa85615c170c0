import { describeStep, type Step } from './schedule.ts';
import type {
  LostConnection,
  StalledUpload,
  TrafficCounts,
  TrafficLine,
  TrafficPath,
} from './traffic-lines.ts';

/** A step of a run, when it began, and when it was complete. */
export interface RunEvent {
  readonly at: number;
  readonly completeAt: number;
  readonly step: Step;
}

/** A pod's name and the time at which it ended; undefined while it runs. */
export type PodEnds = ReadonlyMap<string, number | undefined>;

/** An established connection that ended, or made no progress, while its pod ran. */
export interface BrokenConnection {
  readonly id: string;
  readonly path: TrafficPath;
  readonly family: 4 | 6;
  readonly direction: 'up' | 'down';
  readonly backend: string;
  readonly cause: string;
  /** When it broke: the time of its end, or of its last progress. */
  readonly at: number;
  /** The last event before that. */
  readonly event: string;
  /** Why the product is known to break this connection; undefined if it must not. */
  readonly knownLoss: KnownLoss | undefined;
}

/** Connections that a failover breaks by design or by a documented fault: docs/reliability.md. */
export type KnownLoss =
  | 'source was rewritten'
  | 'pin was not handed over yet'
  | 'slot may have moved';

/** What happened in a run. */
export interface RunFacts {
  readonly pods: PodEnds;
  readonly events: readonly RunEvent[];
  /** Whether uploads whose slot has moved must survive a failover. */
  readonly hasPins: boolean;
}

export interface Verdict {
  readonly broken: readonly BrokenConnection[];
  /** Connections that were never established, by cause and the event before them. */
  readonly unopened: ReadonlyMap<string, number>;
  /** Connections whose pod ended, which is no fault. */
  readonly endedWithPod: number;
  readonly counts: ReadonlyMap<TrafficPath, TrafficCounts>;
}

/** A pod resets its connections at its end; the reset and the record of the end are not simultaneous. */
const toleranceMs = 1_000;

/**
 * Judges the lines of all clients and servers of a run. If only the client reports that a connection stalled,
 * the pod must have run until then: the pod's reset can be lost in a failover.
 */
export function judge(lines: readonly TrafficLine[], facts: RunFacts): Verdict {
  const { pods, events } = facts;
  const stalls = new Map<string, StalledUpload>();
  for (const line of lines) if (line.kind === 'stalled') stalls.set(line.id, line);
  const broken: BrokenConnection[] = [];
  const unopened = new Map<string, number>();
  let endedWithPod = 0;
  for (const line of lines) {
    if (line.kind !== 'lost') continue;
    const { backend } = line;
    if (backend === undefined) {
      const key = `${line.cause}, after ${eventBefore(events, line.openedAt)}`;
      unopened.set(key, (unopened.get(key) ?? 0) + 1);
      continue;
    }
    const at = breakTime(line, stalls.get(line.id));
    const isCertain = stalls.has(line.id) || !line.cause.startsWith('stalled');
    if (hasPodEnded(pods, backend, isCertain ? at : line.endedAt)) endedWithPod += 1;
    else broken.push(brokenConnection(line, backend, at, facts));
  }
  return { broken, unopened, endedWithPod, counts: totals(lines) };
}

function brokenConnection(
  line: LostConnection,
  backend: string,
  at: number,
  { events, hasPins }: RunFacts,
): BrokenConnection {
  const { id, path, family, direction, cause } = line;
  // A connection that stalled broke up to a message after its last progress.
  const event = eventBefore(events, line.cause.startsWith('stalled') ? at + messageMs : at);
  const failover = events.find(
    (each) =>
      each.step.kind === 'failover' &&
      at >= each.at - messageMs &&
      at <= each.completeAt + afterFailoverMs,
  );
  const knownLoss = failover && lossInFailover(line, failover, hasPins);
  return { id, path, family, direction, cause, backend, at, event, knownLoss };
}

/** Connections carry a message at least this often. */
const messageMs = 2_000;
/** A connection that a failover breaks sends its next packet within this time, with the backoff of TCP. */
const afterFailoverMs = 15_000;

/** The controller hands pins over every two seconds; this machine may be busy. */
const handoverMs = 5_000;

function lossInFailover(
  { path, direction, openedAt }: LostConnection,
  failover: RunEvent,
  hasPins: boolean,
): KnownLoss | undefined {
  if (path === 'gateway, local source') return 'source was rewritten';
  const isYoung = openedAt > failover.at - handoverMs && openedAt <= failover.completeAt;
  if (path === 'gateway, shared backends' && direction === 'down' && isYoung) {
    return 'pin was not handed over yet';
  }
  return direction === 'up' && !hasPins ? 'slot may have moved' : undefined;
}

/** A stalled connection broke after its last progress, which the receiving side has recorded. */
function breakTime(line: LostConnection, stall: StalledUpload | undefined): number {
  if (stall !== undefined) return Math.min(stall.progressAt, line.endedAt);
  return line.cause.startsWith('stalled') ? line.progressAt : line.endedAt;
}

function hasPodEnded(pods: PodEnds, backend: string, at: number): boolean {
  const end = pods.get(backend);
  return end !== undefined && end - toleranceMs <= at;
}

function eventBefore(events: readonly RunEvent[], at: number): string {
  const event = events.findLast((each) => each.at <= at);
  return event === undefined ? 'the start' : describeStep(event.step);
}

/** Each client's last summary, added up. Clients have different paths, so paths do not overlap. */
function totals(lines: readonly TrafficLine[]): Map<TrafficPath, TrafficCounts> {
  const found = new Map<TrafficPath, TrafficCounts>();
  for (const line of lines) {
    if (line.kind !== 'summary') continue;
    for (const [path, counts] of Object.entries(line.counts)) {
      found.set(path as TrafficPath, counts);
    }
  }
  return found;
}

/** The verdict as text: counts of each path, and broken connections by event. */
export function describeVerdict({ broken, unopened, endedWithPod, counts }: Verdict): string {
  const byEvent = new Map<string, number>();
  for (const { path, direction, event, knownLoss } of broken) {
    const known = knownLoss === undefined ? '' : `, known loss: ${knownLoss}`;
    const key = `${path}, ${direction}, after ${event}${known}`;
    byEvent.set(key, (byEvent.get(key) ?? 0) + 1);
  }
  const brokenOf = (path: TrafficPath) => broken.filter((each) => each.path === path).length;
  return [
    ...[...counts].map(
      ([path, { established, finished, unopened: failed }]) =>
        `${path}: ${established} established, ${finished} finished, ${failed} not opened, ${brokenOf(path)} broken`,
    ),
    `${endedWithPod} connections ended with their pod`,
    ...[...unopened].map(([event, count]) => `${count} not opened: ${event}`),
    ...[...byEvent].map(([key, count]) => `${count} broken: ${key}`),
  ].join('\n');
}

export function describeBroken(each: BrokenConnection): string {
  const { id, path, family, direction, backend, cause, at, event } = each;
  const time = new Date(at).toISOString().slice(11, 23);
  return `${time} ${id} (${path}, IPv${family}, ${direction}) to ${backend}: ${cause}, after ${event}`;
}
