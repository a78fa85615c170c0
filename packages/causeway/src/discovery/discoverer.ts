import { CausewayError } from '@causeway/base/error/causeway-error';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { sleep } from '@causeway/base/time/clock';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import type { DiscoveredCloud } from './cloud.ts';
import { ClusterView } from './cluster-view.ts';
import type { CycleReport } from './cycle-report.ts';
import { makeCloud, type CloudSurroundings } from './make-cloud.ts';
import { putLabelsBack } from './missing-labels.ts';
import { backendsOf, type DiscoverySettings } from './settings.ts';

/** Labels are rarely removed, and reading all objects of a cluster takes a while. */
const hiddenEveryMs = 60 * 60_000;

export interface OnceResult {
  readonly backend: string;
  readonly report: CycleReport | undefined;
  readonly error: CausewayError | undefined;
}

/** All backends of one process, independent of each other, over one view of the cluster. */
export class Discoverer {
  readonly #parts: CloudSurroundings;
  readonly #view: ClusterView;
  readonly #backends: readonly DiscoveredCloud[];

  constructor(settings: DiscoverySettings, parts: CloudSurroundings) {
    this.#parts = parts;
    this.#view = new ClusterView(parts);
    const all = backendsOf(settings);
    this.#backends = all.map((one) =>
      makeCloud(one, all.length === 1, settings, this.#view, parts),
    );
  }

  /** The readiness checks, by name. */
  checks(): Record<string, () => string | undefined> {
    const backends = this.#backends.map(
      (backend) => [`backend ${backend.name}`, () => backend.readiness()] as const,
    );
    return { cluster: () => this.#view.readiness(), ...Object.fromEntries(backends) };
  }

  /** Runs until the signal fires. Throws errors that end the process unchanged. */
  async run(isConfirmed: boolean, signal: AbortSignal): Promise<void> {
    await this.#beside(signal, async (inner) => {
      await this.#view.whenSynced(inner);
      await this.#checkHidden(inner);
      const loops: Record<string, Loop> = {
        'missing labels': async (deepest) => {
          while (!deepest.aborted) {
            await sleep(this.#parts.clock, hiddenEveryMs, deepest);
            await this.#checkHidden(deepest);
          }
        },
      };
      for (const backend of this.#backends) {
        loops[backend.name] = (deepest) => backend.run(isConfirmed, deepest);
      }
      await supervise(inner, loops);
    });
  }

  /** Runs one cycle of each backend. Throws if the cluster can't be read within this time. */
  async once(isConfirmed: boolean, signal: AbortSignal, syncMs = 60_000): Promise<OnceResult[]> {
    const results: OnceResult[] = [];
    await this.#beside(signal, async (inner) => {
      await this.#view.whenSyncedWithin(syncMs, inner);
      await this.#checkHidden(inner);
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

  /** Finds discovered objects that are not watched. After a failure it tries again later. */
  async #checkHidden(signal: AbortSignal): Promise<void> {
    const { client, log, print } = this.#parts;
    const backends = this.#backends.map(({ name }) => name);
    const onFound = (resource: Resource, object: KubeObject) => {
      this.#view.take(resource, object);
      log.info({ kind: resource.kind, object: keyOf(object) }, 'restored a missing label');
    };
    try {
      await putLabelsBack({ client, backends, onFound, print }, signal);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const error = CausewayError.from(thrown);
      log.warn({ error }, 'search for objects without the label failed');
    }
  }

  /** Runs the work while the cluster is watched. */
  async #beside(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stop = new AbortController();
    let failure: CausewayError | undefined;
    const loops = this.#view.loops();
    await supervise(AbortSignal.any([signal, stop.signal]), {
      ...loops,
      discovery: async (inner) => {
        try {
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
}
