import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { ObjectReference } from '@causeway/kubernetes/objects/object';
import type { Cloud } from '@causeway/openstack/cloud';
import { areCredentialsInvalid } from '@causeway/openstack/error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { systemRandom } from '@causeway/base/simulation/random';
import type { BackendConnection } from './cloud-connection.ts';
import type { ClusterView } from './cluster-view.ts';
import { UnusableCredentials, type CredentialSource } from './credential-source.ts';
import { Cycle, type CycleOptions } from './cycle.ts';
import type { CycleReport } from './cycle-report.ts';
import type { DiscoveryMetrics } from './discovery-metrics.ts';
import { LossGuard } from './loss-guard.ts';
import type { PlanTarget } from './plan-target.ts';
import { ProblemReporter, type RecordEvent } from './problem-reporter.ts';
import { ProjectOrder } from './project-order.ts';

export interface DiscoveredCloudOptions extends CycleOptions {
  readonly intervalMs: number;
  readonly maxLossShare: number;
  /**
   * With a single backend, refused credentials end the process. With several, they end only the work for this
   * backend.
   */
  readonly isAlone: boolean;
}

export interface CloudParts {
  readonly options: DiscoveredCloudOptions;
  readonly source: CredentialSource;
  readonly connection: BackendConnection<Cloud>;
  readonly view: ClusterView;
  readonly target: PlanTarget;
  readonly recordEvent: RecordEvent;
  readonly metrics: DiscoveryMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Without a successful cycle for this time, or three intervals if that is longer, the process is not ready.
 */
const unreadyAfterMs = 5 * 60_000;

/** One cloud, reconciled cycle by cycle. A failure here affects no other backend. */
export class DiscoveredCloud {
  readonly #parts: CloudParts;
  readonly #guard: LossGuard;
  readonly #order = new ProjectOrder(systemRandom);
  readonly #reporter: ProblemReporter;
  readonly #log: Log;
  #lastSuccess: number | undefined;
  #lastProblem: string | undefined;

  constructor(parts: CloudParts) {
    const { options, log } = parts;
    this.#parts = parts;
    this.#guard = new LossGuard(options);
    this.#log = log.child({ backend: options.backend });
    this.#reporter = new ProblemReporter(parts.recordEvent, parts.clock, this.#log);
  }

  get name(): string {
    return this.#parts.options.backend;
  }

  /** Runs cycles until the signal fires. Throws only errors that end the process. */
  async run(isConfirmed: boolean, signal: AbortSignal): Promise<void> {
    const { clock, options } = this.#parts;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const started = clock.monotonic();
      try {
        await this.cycle(isConfirmed && isFirst, signal);
      } catch (thrown) {
        if (signal.aborted || this.#endsTheProcess(thrown)) throw thrown;
      }
      await sleep(clock, started + options.intervalMs - clock.monotonic(), signal);
    }
  }

  /** Runs one cycle. A failure is counted and reported before it is thrown. */
  async cycle(isConfirmed: boolean, signal: AbortSignal): Promise<CycleReport> {
    const { connection, clock, metrics, options, source } = this.#parts;
    const started = clock.monotonic();
    try {
      const cloud = await connection.cloud(signal);
      const guard = this.#guard;
      const order = this.#order;
      const reporter = this.#reporter;
      const about = source.about ?? anywhere;
      const log = this.#log;
      const cycle = new Cycle({ ...this.#parts, cloud, guard, order, reporter, about, log });
      const report = await cycle.run(isConfirmed, signal);
      this.#succeeded(report, clock.monotonic() - started);
      return report;
    } catch (thrown) {
      this.#guard.reset();
      if (!signal.aborted) await this.#failed(CausewayError.from(thrown));
      throw thrown;
    } finally {
      this.#reporter.endCycle();
      const seconds = (clock.monotonic() - started) / 1000;
      metrics.duration.observe({ backend: options.backend }, seconds);
    }
  }

  readiness(): string | undefined {
    const { clock, options } = this.#parts;
    const because = this.#lastProblem === undefined ? '' : `: ${this.#lastProblem}`;
    if (this.#lastSuccess === undefined) return `not read yet${because}`;
    const unreadMs = clock.monotonic() - this.#lastSuccess;
    if (unreadMs < Math.max(unreadyAfterMs, 3 * options.intervalMs)) return undefined;
    return `not read for ${Math.round(unreadMs / 1000)} s${because}`;
  }

  close(): Promise<void> {
    return this.#parts.connection.close();
  }

  #succeeded(report: CycleReport, durationMs: number): void {
    const { metrics, clock, options } = this.#parts;
    const { backend } = options;
    const { isComplete, projects, failed, skipped, loadBalancers, replicated, invalid, held } =
      report;
    metrics.up.set({ backend }, 1);
    metrics.cycles.add({ backend, outcome: isComplete ? 'complete' : 'partial' });
    metrics.held.set({ backend }, held);
    const states = { upstream: projects, failed, skipped };
    for (const [state, count] of Object.entries(states)) {
      metrics.projects.set({ backend, state }, count);
    }
    const balancers = { upstream: loadBalancers, replicated, invalid };
    for (const [state, count] of Object.entries(balancers)) {
      metrics.loadBalancers.set({ backend, state }, count);
    }
    for (const [state, count] of Object.entries(report.endpoints)) {
      metrics.endpoints.set({ backend, state }, count);
    }
    // A permanently failing project of one tenant does not fail discovery for the others.
    if (projects === 0 || failed < projects) {
      this.#lastProblem = undefined;
      this.#lastSuccess = clock.monotonic();
      metrics.lastSuccess.set({ backend }, clock.wallTime() / 1000);
    } else {
      this.#lastProblem = `all ${projects} projects failed`;
    }
    const { written, removed } = report;
    const fields = { projects, failed, loadBalancers, invalid, written, removed, held };
    const isNew = written > 0 || removed > 0 || held > 0 || !isComplete;
    this.#log[isNew ? 'info' : 'debug'](
      { ...fields, seconds: Math.round(durationMs) / 1000 },
      'cycle ended',
    );
  }

  async #failed(error: CausewayError): Promise<void> {
    const { metrics, options, source, connection } = this.#parts;
    const { backend } = options;
    if (areCredentialsInvalid(error)) await connection.refuse(error);
    metrics.up.set({ backend }, 0);
    metrics.cycles.add({ backend, outcome: 'failed' });
    const isNew = this.#lastProblem !== error.message;
    this.#lastProblem = error.message;
    const { reason, advice } = failureOf(error, source);
    this.#log[isNew ? 'error' : 'debug']({ error }, advice);
    this.#reporter.report(source.about ?? anywhere, {
      severity: 'refusal',
      reason,
      message: `backend ${backend}: ${error.message}`,
    });
  }

  /**
   * Only for errors that waiting can't fix: refused or malformed credentials. A missing Secret may still be
   * created.
   */
  #endsTheProcess(thrown: unknown): boolean {
    if (!this.#parts.options.isAlone) return false;
    return areCredentialsInvalid(thrown) || thrown instanceof UnusableCredentials;
  }
}

function failureOf(
  error: CausewayError,
  { description }: CredentialSource,
): { readonly reason: EventReason; readonly advice: string } {
  if (areCredentialsInvalid(error)) {
    const advice = `the credentials in ${description} are refused; correct them`;
    return { reason: 'CredentialsRefused', advice };
  }
  if (error instanceof UnusableCredentials) {
    const advice = `the content of ${description} is not usable as credentials; correct the content`;
    return { reason: 'CredentialsUnusable', advice };
  }
  return {
    reason: 'BackendFailed',
    advice: 'reading the backend failed; none of its objects change',
  };
}

/** Credentials outside of the cluster have no object there; Events about them go to the default namespace. */
const anywhere: ObjectReference = { apiVersion: 'v1', kind: 'Namespace', name: 'default' };
