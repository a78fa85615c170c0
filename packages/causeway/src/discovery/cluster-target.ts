import { isDeepStrictEqual } from 'node:util';
import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { keyOf, nameFromKey, type KubeObject } from '@causeway/kubernetes/objects/object';
import { resourceName, type Resource } from '@causeway/kubernetes/objects/resource';
import { endpoints, namespaces, services } from '@causeway/kubernetes/objects/resources';
import type { ClusterView } from './cluster-view.ts';
import { updatedObject } from './compare-objects.ts';
import type { DiscoveryMetrics } from './discovery-metrics.ts';
import { isGimbals } from './gimbal.ts';
import { annotations, labels, manager, marksOf, mergeMetadata, sourcesOf } from './ownership.ts';
import type { LoadBalancerPlan, Removal, Write } from './plan-project.ts';
import type { Applied, PlanTarget, Prepared } from './plan-target.ts';
import type { Problem } from './problem.ts';
import { goingAway } from './namespace-phase.ts';
import { readAgain, type TakenNameOptions } from './taken-name.ts';

export interface ClusterTargetOptions extends TakenNameOptions {
  readonly view: ClusterView;
  readonly createNamespaces: boolean;
  readonly metrics: DiscoveryMetrics;
}

/** Applies plans. Each write is independent: a refused write stops only the removals. */
export class ClusterTarget implements PlanTarget {
  readonly #options: ClusterTargetOptions;

  constructor(options: ClusterTargetOptions) {
    this.#options = options;
  }

  async prepareNamespace(
    namespace: string,
    projectName: string,
    signal: AbortSignal,
  ): Promise<Prepared> {
    const { client, view, createNamespaces } = this.#options;
    const known = view.namespaces.get(namespace);
    if (known !== undefined) {
      return { problem: goingAway(known), isCreated: false };
    }
    if (!createNamespaces) {
      return { problem: this.#missing(namespace, projectName), isCreated: false };
    }
    const wanted = {
      metadata: {
        name: namespace,
        labels: { [labels.managedBy]: manager },
        annotations: { [annotations.projectName]: projectName.toWellFormed() },
      },
    };
    try {
      await client.create(namespaces, wanted, { signal, fieldManager: manager });
      this.#count('create', namespaces);
      return { problem: undefined, isCreated: true };
    } catch (error) {
      // Created a moment ago, by this process or by another client.
      if (!isErrorCode(error, 'conflict')) throw error;
      return { problem: undefined, isCreated: false };
    }
  }

  async apply(plan: LoadBalancerPlan, signal: AbortSignal): Promise<Applied> {
    const problems: Problem[] = [];
    const failures: Error[] = [];
    let service: KubeObject | undefined;
    let [written, removed] = [0, 0];
    for (const write of plan.writes) {
      try {
        const { object, isWritten } = await this.#write(write, signal);
        if (write.resource === services) service = object;
        written += isWritten ? 1 : 0;
      } catch (error) {
        if (signal.aborted) throw error;
        const problem = problemFrom(error);
        if (problem === undefined) failures.push(CausewayError.from(error));
        else problems.push(problem);
        // The endpoints would belong to a foreign Service of that name.
        if (write.resource === services) break;
      }
    }
    const isDone = problems.length === 0 && failures.length === 0;
    for (const removal of isDone ? plan.removals : []) {
      try {
        removed += (await this.#remove(removal, signal)) ? 1 : 0;
      } catch (error) {
        if (signal.aborted) throw error;
        failures.push(CausewayError.from(error));
      }
    }
    return { service, written, removed, problems, failures };
  }

  applyInterim(plan: LoadBalancerPlan, signal: AbortSignal): Promise<Applied> {
    return this.apply({ ...plan, writes: plan.interim, removals: [] }, signal);
  }

  /** Does nothing. */
  hold(): void {}

  async #write(write: Write, signal: AbortSignal): Promise<Written> {
    try {
      return { object: await this.#writeOnce(write, signal), isWritten: true };
    } catch (error) {
      if (!isErrorCode(error, 'conflict') && !isErrorCode(error, 'not-found')) throw error;
      return this.#writeOntoWhatIsThere(write, signal);
    }
  }

  async #writeOnce(write: Write, signal: AbortSignal): Promise<KubeObject> {
    const { client } = this.#options;
    const { resource, wanted } = write;
    const options = { signal, fieldManager: manager };
    if (write.verb === 'update') {
      const object = updatedObject(resource, write.actual, wanted);
      const updated = await client.update(resource, object, options);
      this.#count('update', resource);
      return updated;
    }
    if (write.verb === 'replace') await this.#remove(write, signal);
    const created = await client.create(resource, wanted, options);
    this.#count('create', resource);
    return created;
  }

  async #writeOntoWhatIsThere(write: Write, signal: AbortSignal): Promise<Written> {
    const found = await readAgain(write, this.#options, signal);
    if (found.kind === 'taken') throw new NameTaken(found.problem);
    if (found.kind === 'right') return { object: found.actual, isWritten: false };
    const isService = write.resource === services;
    if (found.isAdoption && isService) await this.#adoptEndpoints(write.wanted, signal);
    return { object: await this.#writeOnce(found.write, signal), isWritten: true };
  }

  /**
   * Adopts Gimbal's Endpoints before its Service. From then on they are managed with the rest, also after an
   * interruption, and are deleted or corrected in the next cycle.
   */
  async #adoptEndpoints(service: KubeObject, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const theirs = await client.find(endpoints, nameFromKey(keyOf(service)), { signal });
    if (theirs === undefined || !isGimbals(theirs, service)) return;
    const own = { labels: service.metadata?.labels ?? {}, annotations: marksOf(service) };
    const adopted = { ...theirs, metadata: mergeMetadata(theirs.metadata ?? {}, own) };
    await client.update(endpoints, adopted, { signal, fieldManager: manager });
    this.#count('update', endpoints);
  }

  /**
   * Returns whether the object existed and was deleted. An object with unchanged marks may still have
   * changed.
   */
  async #remove({ resource, actual }: Removal, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#options;
    try {
      return await this.#removeExactly(resource, actual, signal);
    } catch (error) {
      if (!isErrorCode(error, 'conflict')) throw error;
      const now = await client.find(resource, nameFromKey(keyOf(actual)), { signal });
      const isSame =
        now?.metadata?.uid === actual.metadata?.uid &&
        isDeepStrictEqual(now && sourcesOf(now), sourcesOf(actual));
      return now !== undefined && isSame ? this.#removeExactly(resource, now, signal) : false;
    }
  }

  /** Deletes only the known version: an object that was corrected since the decision must stay. */
  async #removeExactly(
    resource: Resource,
    object: KubeObject,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { uid, resourceVersion } = object.metadata ?? {};
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    try {
      const at = nameFromKey(keyOf(object));
      await this.#options.client.delete(resource, at, { signal, preconditions });
      this.#count('delete', resource);
      return true;
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
      return false;
    }
  }

  #missing(namespace: string, projectName: string): Problem {
    return {
      severity: 'refusal',
      reason: 'NamespaceMissing',
      message: `discovery skips project ${JSON.stringify(projectName)} of ${this.#options.backend}: create the namespace ${namespace}, or allow discovery to create namespaces`,
    };
  }

  #count(verb: 'create' | 'update' | 'delete', resource: Resource): void {
    const { backend, metrics } = this.#options;
    metrics.writes.add({ backend, verb, resource: resourceName(resource) });
  }
}

interface Written {
  readonly object: KubeObject;
  /** False if the object was correct already. */
  readonly isWritten: boolean;
}

class NameTaken extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

function problemFrom(error: unknown): Problem | undefined {
  if (error instanceof NameTaken) return error.problem;
  // Forbidden by a role, a webhook or a policy, or beyond a quota: waiting doesn't fix it.
  const isRefusal = (['invalid', 'forbidden', 'exhausted'] as const).some((code) =>
    isErrorCode(error, code),
  );
  if (!isRefusal) return undefined;
  return {
    severity: 'refusal',
    reason: 'RefusedByKubernetes',
    message: CausewayError.from(error).message,
  };
}
