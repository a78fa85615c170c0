import { CausewayError, isErrorCode } from '../domain/error.ts';
import type { KubeClient } from '../kube/client.ts';
import { keyOf, nameFromKey, type KubeObject } from '../kube/object.ts';
import { resourceName, type Resource } from '../kube/resource.ts';
import { namespaces, services } from '../kube/resources.ts';
import type { ClusterView } from './cluster-view.ts';
import type { DiscoveryMetrics } from './discovery-metrics.ts';
import { annotations, labels, manager, wasOurs } from './ownership.ts';
import { changeOf, updatedObject } from './compare-objects.ts';
import type { LoadBalancerPlan, Removal, Write } from './plan-project.ts';
import type { Applied, PlanTarget } from './plan-target.ts';
import type { Problem } from './problem.ts';

export interface ClusterTargetOptions {
  readonly backend: string;
  readonly client: KubeClient;
  readonly view: ClusterView;
  readonly createNamespaces: boolean;
  readonly metrics: DiscoveryMetrics;
}

/** Makes plans come true. Each write stands alone: one that is refused stops no other but the removals. */
export class ClusterTarget implements PlanTarget {
  readonly #options: ClusterTargetOptions;

  constructor(options: ClusterTargetOptions) {
    this.#options = options;
  }

  async prepareNamespace(
    namespace: string,
    projectName: string,
    signal: AbortSignal,
  ): Promise<Problem | undefined> {
    const { backend, client, view, createNamespaces } = this.#options;
    const known = view.namespaces.get(namespace);
    if (known !== undefined) return goingAway(known.status?.phase, namespace);
    if (!createNamespaces) {
      return {
        severity: 'refusal',
        reason: 'NamespaceMissing',
        message: `project ${JSON.stringify(projectName)} of ${backend} is left out: create the namespace ${namespace}, or let discovery create namespaces`,
      };
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
    } catch (error) {
      // Made a moment ago, by us or by someone else.
      if (!isErrorCode(error, 'conflict')) throw error;
    }
    return undefined;
  }

  async apply(plan: LoadBalancerPlan, signal: AbortSignal): Promise<Applied> {
    const problems: Problem[] = [];
    const failures: Error[] = [];
    let service: KubeObject | undefined;
    for (const write of plan.writes) {
      try {
        const written = await this.#write(write, signal);
        if (write.resource === services) service = written;
      } catch (error) {
        if (signal.aborted) throw error;
        const problem = problemFrom(error, write);
        if (problem === undefined) failures.push(CausewayError.from(error));
        else problems.push(problem);
        // Endpoints would stand behind whatever Service has the name.
        if (write.resource === services) break;
      }
    }
    if (problems.length > 0 || failures.length > 0) return { service, problems, failures };
    for (const removal of plan.removals) {
      try {
        await this.#remove(removal, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        failures.push(CausewayError.from(error));
      }
    }
    return { service, problems, failures };
  }

  /** Nothing is done. */
  hold(): void {}

  async #write(write: Write, signal: AbortSignal): Promise<KubeObject> {
    try {
      return await this.#writeOnce(write, signal);
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

  /** Someone was faster, or the watch is a little behind: decide again on what the server has. */
  async #writeOntoWhatIsThere(
    { resource, wanted }: Write,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const { backend, client } = this.#options;
    const actual = await client.find(resource, nameFromKey(keyOf(wanted)), { signal });
    if (actual === undefined) return this.#writeOnce({ verb: 'create', resource, wanted }, signal);
    if (!wasOurs(backend, actual)) throw new NameTaken();
    const verb = changeOf(resource, actual, wanted);
    return verb === undefined
      ? actual
      : this.#writeOnce({ verb, resource, wanted, actual }, signal);
  }

  async #remove({ resource, actual }: Removal, signal: AbortSignal): Promise<void> {
    const { uid } = actual.metadata ?? {};
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    try {
      await this.#options.client.delete(resource, nameFromKey(keyOf(actual)), {
        signal,
        ...preconditions,
      });
      this.#count('delete', resource);
    } catch (error) {
      // Gone already, or another object by now.
      if (!isErrorCode(error, 'not-found') && !isErrorCode(error, 'conflict')) throw error;
    }
  }

  #count(verb: 'create' | 'update' | 'delete', resource: Resource): void {
    const { backend, metrics } = this.#options;
    metrics.writes.add({ backend, verb, resource: resourceName(resource) });
  }
}

class NameTaken extends Error {}

function problemFrom(error: unknown, { resource, wanted }: Write): Problem | undefined {
  const subject = `${resource.kind} ${keyOf(wanted)}`;
  if (error instanceof NameTaken) {
    return {
      severity: 'refusal',
      reason: 'NameTaken',
      message: `${subject} exists and is not ours; rename or remove it, and it will be made`,
    };
  }
  if (!isErrorCode(error, 'invalid')) return undefined;
  return {
    severity: 'refusal',
    reason: 'RefusedByKubernetes',
    message: CausewayError.from(error).message,
  };
}

function goingAway(phase: string | undefined, namespace: string): Problem | undefined {
  if (phase !== 'Terminating') return undefined;
  return {
    severity: 'refusal',
    reason: 'NamespaceTerminating',
    message: `the namespace ${namespace} is being deleted; its project is left out until it is gone`,
  };
}
