import { CausewayError } from '../domain/error.ts';
import type { KubeClient } from '../kube/client.ts';
import { Cloud } from '../openstack/cloud.ts';
import type { Environment } from '../openstack/config/load.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { supervise, type Loop } from '../runtime/supervisor.ts';
import { BackendConnection } from './backend-connection.ts';
import { Backend } from './backend.ts';
import { ClusterTarget } from './cluster-target.ts';
import { ClusterView } from './cluster-view.ts';
import { localSource, secretSource } from './credential-source.ts';
import type { CycleReport } from './cycle-report.ts';
import { discoveryMetrics } from './discovery-metrics.ts';
import { DryRunTarget } from './dry-run-target.ts';
import type { Tell } from './problem-reporter.ts';
import { backendsOf, type BackendSettings, type DiscoverySettings } from './settings.ts';

export interface DiscovererParts {
  readonly client: KubeClient;
  readonly tell: Tell;
  readonly environment: Environment;
  readonly workingDirectory: string;
  /** Where a dry run prints what it would do; without it, things are done. */
  readonly print?: (text: string) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface OnceResult {
  readonly backend: string;
  readonly report: CycleReport | undefined;
  readonly error: CausewayError | undefined;
}

/** All backends of one process, each on its own, over one view of the cluster. */
export class Discoverer {
  readonly #view: ClusterView;
  readonly #backends: readonly Backend[];

  constructor(settings: DiscoverySettings, parts: DiscovererParts) {
    this.#view = new ClusterView(parts);
    const all = backendsOf(settings);
    this.#backends = all.map((one) => this.#backend(one, all.length === 1, settings, parts));
  }

  /** What readiness depends on, by name. */
  checks(): Record<string, () => string | undefined> {
    const backends = this.#backends.map(
      (backend) => [`backend ${backend.name}`, () => backend.readiness()] as const,
    );
    return { cluster: () => this.#view.readiness(), ...Object.fromEntries(backends) };
  }

  /** Until the signal fires. Throws what ends the process, as it is. */
  async run(isConfirmed: boolean, signal: AbortSignal): Promise<void> {
    await this.#beside(signal, async (inner) => {
      const loops: Record<string, Loop> = {};
      for (const backend of this.#backends) {
        loops[backend.name] = (deepest) => backend.run(isConfirmed, deepest);
      }
      await supervise(inner, loops);
    });
  }

  /** One cycle of each backend. */
  async once(isConfirmed: boolean, signal: AbortSignal): Promise<OnceResult[]> {
    const results: OnceResult[] = [];
    await this.#beside(signal, async (inner) => {
      const all = this.#backends.map(async (backend): Promise<OnceResult> => {
        try {
          const report = await backend.cycle(isConfirmed, inner);
          return { backend: backend.name, report, error: undefined };
        } catch (thrown) {
          const error = CausewayError.from(thrown);
          return { backend: backend.name, report: undefined, error };
        }
      });
      results.push(...(await Promise.all(all)));
    });
    return results;
  }

  /** Work while the cluster is watched, begun when all of it is known. */
  async #beside(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stop = new AbortController();
    let failure: CausewayError | undefined;
    const loops = this.#view.loops();
    await supervise(AbortSignal.any([signal, stop.signal]), {
      ...loops,
      discovery: async (inner) => {
        try {
          await this.#view.whenSynced(inner);
          await work(inner);
        } catch (error) {
          failure = CausewayError.from(error);
        }
        stop.abort();
      },
    });
    await Promise.all(this.#backends.map((backend) => backend.close()));
    if (failure !== undefined && !signal.aborted) throw failure;
  }

  #backend(
    { name, secret, cloud, projects, ignoreProjects, namespaceTemplate }: BackendSettings,
    isAlone: boolean,
    settings: DiscoverySettings,
    parts: DiscovererParts,
  ): Backend {
    const { client, environment, workingDirectory, clock, log, metrics, print } = parts;
    const view = this.#view;
    const source =
      secret === undefined
        ? localSource(environment, workingDirectory, cloud)
        : secretSource(client, name, secret);
    const { serviceType, endpointsKind, createNamespaces, maxLossShare, workers } = settings;
    const attemptDeadlineMs = settings.requestSeconds * 1000;
    const options = { log, metrics, clock, concurrency: workers, attemptDeadlineMs };
    const own = discoveryMetrics(metrics);
    return new Backend({
      options: {
        ...{ backend: name, serviceType, endpointsKind, namespaceTemplate, workers, isAlone },
        choice: { only: projects, except: ignoreProjects },
        projectMs: settings.projectSeconds * 1000,
        intervalMs: settings.intervalSeconds * 1000,
        maxLossShare,
      },
      ...{ source, view, clock, log, metrics: own, tell: parts.tell },
      connection: new BackendConnection({
        ...{ source, clock, log },
        open: (config) => new Cloud(config, options),
      }),
      target:
        print === undefined
          ? new ClusterTarget({ backend: name, client, view, createNamespaces, metrics: own })
          : new DryRunTarget({ view, createNamespaces, print }),
    });
  }
}
