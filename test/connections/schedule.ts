import { Dice } from '../chaos/dice.ts';

/** One event of a run. Steps with `seconds` last that long; the others start something that takes its time. */
export type Step =
  | { readonly kind: 'scale'; readonly replicas: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'drain'; readonly node: string }
  | { readonly kind: 'uncordon'; readonly node: string }
  /** A pod drops SYNs; with `failsReadiness`, its kubelet also reports it as not ready. */
  | {
      readonly kind: 'pod overload';
      readonly pod: number;
      readonly failsReadiness: boolean;
      readonly seconds: number;
    }
  /** A node drops SYNs to its own addresses. */
  | { readonly kind: 'node overload'; readonly node: string; readonly seconds: number }
  /** A node is NotReady; with `losesLink`, it is also without network for that time. */
  | {
      readonly kind: 'node flap';
      readonly node: string;
      readonly losesLink: boolean;
      readonly seconds: number;
    }
  | { readonly kind: 'failover'; readonly how: FailoverKind }
  | { readonly kind: 'return' };

/** `unplanned`: the gateways changed their roles by themselves, which a busy machine can cause. */
export type FailoverKind = 'power cut' | 'drained gateway' | 'unplanned';
export type StepKind = Step['kind'];

/** A step, and the pause before the next one. */
export interface ScheduledStep {
  readonly step: Step;
  readonly pauseSeconds: number;
}

export interface ScheduleOptions {
  readonly seed: number;
  /** The steps and pauses take at least this long. */
  readonly seconds: number;
  /** Nodes that run pods. */
  readonly nodes: readonly string[];
  /** `first`: failovers happen before anything changes the backends of a gateway. */
  readonly failovers: 'anywhere' | 'first';
}

export const firstReplicas = 6;
const replicas = { least: 3, most: 9 } as const;
const failoverKinds: readonly FailoverKind[] = ['power cut', 'drained gateway'];
/** Kinds that a round contains once each; `uncordon` and `return` follow their counterparts. */
const kindsOfRound = [
  ...(['scale', 'restart', 'drain', 'pod overload', 'pod overload'] as const),
  ...(['node overload', 'node flap', 'failover', 'failover'] as const),
] as const;
type RoundKind = (typeof kindsOfRound)[number];

/** The same options give the same steps. At the end every node is schedulable and both gateways are back. */
export function makeSchedule(options: ScheduleOptions): readonly ScheduledStep[] {
  return new ScheduleMaker(options).make();
}

class ScheduleMaker {
  readonly #options: ScheduleOptions;
  readonly #dice: Dice;
  readonly #steps: ScheduledStep[] = [];
  #replicas = firstReplicas;
  #seconds = 0;
  /** What ends a drain or a failover, and how many steps later. */
  #pending: { readonly step: Step; readonly after: number }[] = [];
  #failovers = 0;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#dice = new Dice(options.seed);
  }

  make(): readonly ScheduledStep[] {
    const { failovers, seconds } = this.#options;
    if (failovers === 'first') {
      for (const _ of failoverKinds) {
        this.#add(this.#stepOf('failover'));
        this.#finish();
      }
    }
    while (this.#seconds < seconds) this.#addRound();
    this.#finish();
    return this.#steps;
  }

  #addRound(): void {
    const isLeftOut = (kind: RoundKind) =>
      kind === 'failover' && this.#options.failovers === 'first';
    for (const kind of this.#shuffled(kindsOfRound.filter((each) => !isLeftOut(each)))) {
      if (this.#seconds >= this.#options.seconds) return;
      if (this.#pending.some(({ step }) => step.kind === counterpart[kind])) this.#finish();
      this.#add(this.#stepOf(kind));
      this.#age();
    }
  }

  #stepOf(kind: RoundKind): Step {
    const node = this.#dice.pick(this.#options.nodes);
    const seconds = this.#dice.between(2, 5);
    switch (kind) {
      case 'scale':
        return { kind, replicas: this.#otherReplicas() };
      case 'restart':
        return { kind };
      case 'drain':
        this.#later({ kind: 'uncordon', node });
        return { kind, node };
      case 'pod overload': {
        const failsReadiness = this.#dice.below(2) === 0;
        return { kind, pod: this.#dice.below(replicas.least), failsReadiness, seconds };
      }
      case 'node overload':
        return { kind, node, seconds };
      case 'node flap':
        return { kind, node, losesLink: this.#dice.below(2) === 0, seconds };
      case 'failover':
        this.#later({ kind: 'return' });
        this.#failovers += 1;
        return { kind, how: failoverKinds[this.#failovers % 2] ?? 'power cut' };
      default:
        return kind satisfies never;
    }
  }

  #otherReplicas(): number {
    const choices = Array.from(
      { length: replicas.most - replicas.least + 1 },
      (_, index) => replicas.least + index,
    );
    this.#replicas = this.#dice.pick(choices.filter((count) => count !== this.#replicas));
    return this.#replicas;
  }

  #later(step: Step): void {
    this.#pending.push({ step, after: this.#dice.between(1, 3) });
  }

  #age(): void {
    const older = this.#pending.map(({ step, after }) => ({ step, after: after - 1 }));
    this.#pending = older.filter(({ after }) => after > 0);
    for (const { step, after } of older) if (after <= 0) this.#add(step);
  }

  /** Ends all drains and failovers. */
  #finish(): void {
    for (const { step } of this.#pending) this.#add(step);
    this.#pending = [];
  }

  #add(step: Step): void {
    const pauseSeconds = this.#dice.between(1, 6);
    this.#seconds += pauseSeconds + ('seconds' in step ? step.seconds : 0);
    this.#steps.push({ step, pauseSeconds });
  }

  #shuffled<T>(list: readonly T[]): T[] {
    const all = [...list];
    for (let last = all.length - 1; last > 0; last -= 1) {
      const other = this.#dice.below(last + 1);
      [all[last], all[other]] = [all[other] as T, all[last] as T];
    }
    return all;
  }
}

/** The step that must have happened before another one of a kind. */
const counterpart: Partial<Record<StepKind, StepKind>> = { drain: 'uncordon', failover: 'return' };

export function describeStep(step: Step): string {
  switch (step.kind) {
    case 'scale':
      return `scale to ${step.replicas}`;
    case 'restart':
      return 'rolling restart';
    case 'drain':
    case 'uncordon':
      return `${step.kind} ${step.node}`;
    case 'pod overload': {
      const readiness = step.failsReadiness ? 'not ready' : 'ready';
      return `pod overload (pod ${step.pod}, ${step.seconds} s, ${readiness})`;
    }
    case 'node overload':
      return `node overload (${step.node}, ${step.seconds} s)`;
    case 'node flap': {
      const link = step.losesLink ? 'without link' : 'with link';
      return `node flap (${step.node}, ${step.seconds} s, ${link})`;
    }
    case 'failover':
      return `failover (${step.how})`;
    case 'return':
      return 'return of the gateway';
    default:
      return step satisfies never;
  }
}
