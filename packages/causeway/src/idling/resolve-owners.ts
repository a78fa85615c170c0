import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Pod, Service } from '@causeway/kubernetes/objects/core-objects';
import type {
  KubeObject,
  LabelSelector,
  OwnerReference,
  StringMap,
} from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import {
  deployments,
  endpoints,
  pods,
  replicaSets,
  replicationControllers,
  statefulSets,
} from '@causeway/kubernetes/objects/resources';
import type { ScaleDiscovery } from './scale-discovery.ts';

/** An object with a scale that runs pods of a Service. */
export interface Owner {
  readonly resource: Resource;
  readonly name: string;
}

export interface Resolution {
  readonly owners: readonly Owner[];
  /** The names of the pods that stop when the owners are scaled to 0. */
  readonly pods: readonly string[];
  /** Why the Service can't be idled. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Finds the objects to scale in order to stop and start the pods of a Service. */
export class OwnerResolver {
  readonly #client: KubeClient;
  readonly #discovery: ScaleDiscovery;

  constructor(client: KubeClient, discovery: ScaleDiscovery) {
    this.#client = client;
    this.#discovery = discovery;
  }

  async resolve(service: Service, signal: AbortSignal): Promise<Resolution> {
    const namespace = service.metadata?.namespace ?? '';
    const found = new Map<string, Owner>();
    const problems = new Set<string>();
    const warnings = new Set<string>();
    const running = await this.#podsOf(service, signal);
    const climbed = new Map<string, Promise<Climb>>();
    for (const pod of running) {
      const reference = controllerOf(pod);
      const podName = pod.metadata?.name ?? '';
      if (reference === undefined) {
        problems.add(`pod ${podName} has no owner that could start it again`);
        continue;
      }
      const key = `${reference.kind}/${reference.name}`;
      const climb = climbed.get(key) ?? this.#climb(namespace, reference, signal);
      climbed.set(key, climb);
      const { owner, above } = await climb;
      if (owner === undefined) {
        problems.add(
          `${reference.kind} ${reference.name} runs pods of the Service and can't be scaled`,
        );
        continue;
      }
      found.set(ownerKey(owner), owner);
      if (above !== undefined) {
        warnings.add(
          `${owner.resource.kind} ${owner.name} belongs to ${above}, which may scale it up again`,
        );
      }
    }
    if (running.length === 0) {
      const selector = service.spec?.selector ?? {};
      for (const owner of await this.#sleepingOwners(namespace, selector, signal)) {
        found.set(ownerKey(owner), owner);
      }
    }
    if (found.size === 0 && problems.size === 0)
      problems.add('no object runs pods for the Service');
    return {
      owners: [...found.values()],
      pods: running.map(({ metadata }) => metadata?.name ?? ''),
      problems: [...problems],
      warnings: [...warnings],
    };
  }

  async #podsOf(service: Service, signal: AbortSignal): Promise<Pod[]> {
    const { namespace = '', name = '' } = service.metadata ?? {};
    const selector = service.spec?.selector ?? {};
    const chosen: Pod[] = [];
    if (Object.keys(selector).length > 0) {
      const labelSelector = Object.entries(selector)
        .map(([key, value]) => `${key}=${value}`)
        .join(',');
      for await (const pod of this.#client.list(pods, { namespace, labelSelector, signal })) {
        if (isAlive(pod)) chosen.push(pod);
      }
      return chosen;
    }
    const written = await this.#client.find(endpoints, { namespace, name }, { signal });
    for (const subset of written?.subsets ?? []) {
      for (const address of [...(subset.addresses ?? []), ...(subset.notReadyAddresses ?? [])]) {
        const podName = address.targetRef?.kind === 'Pod' ? address.targetRef.name : undefined;
        if (podName === undefined) continue;
        const pod = await this.#client.find(pods, { namespace, name: podName }, { signal });
        if (pod !== undefined && isAlive(pod)) chosen.push(pod);
      }
    }
    return chosen;
  }

  /**
   * Goes up from the direct owner and returns the highest owner with a scale, because it controls the lower
   * ones.
   */
  async #climb(namespace: string, first: OwnerReference, signal: AbortSignal): Promise<Climb> {
    let owner: Owner | undefined;
    let above: string | undefined;
    let reference: OwnerReference | undefined = first;
    for (let steps = 0; reference !== undefined && steps < mostSteps; steps += 1) {
      const { apiVersion, kind, name }: OwnerReference = reference;
      const slash = apiVersion.indexOf('/');
      const found = await this.#discovery.find(
        {
          group: slash < 0 ? '' : apiVersion.slice(0, slash),
          version: apiVersion.slice(slash + 1),
          kind,
        },
        signal,
      );
      if (found?.hasScale === true) {
        owner = { resource: found.resource, name };
        above = undefined;
      } else {
        above = `${kind} ${name}`;
      }
      if (found === undefined) break;
      const where = found.resource.namespaced ? { namespace, name } : { name };
      const object: KubeObject | undefined = await this.#client.find(found.resource, where, {
        signal,
      });
      reference = controllerOf(object);
    }
    return { owner, above };
  }

  /** Objects that would run pods for the selector but have none now. */
  async #sleepingOwners(
    namespace: string,
    selector: StringMap,
    signal: AbortSignal,
  ): Promise<Owner[]> {
    if (Object.keys(selector).length === 0) return [];
    const owners: Owner[] = [];
    for (const resource of workloadKinds) {
      for await (const workload of this.#client.list<Workload>(resource, { namespace, signal })) {
        if (controllerOf(workload) !== undefined) continue;
        const labels = workload.spec?.template?.metadata?.labels ?? {};
        const isChosen = Object.entries(selector).every(([key, value]) => labels[key] === value);
        if (isChosen) owners.push({ resource, name: workload.metadata?.name ?? '' });
      }
    }
    return owners;
  }
}

interface Climb {
  readonly owner: Owner | undefined;
  /** An owner above that can't be scaled. */
  readonly above: string | undefined;
}

interface Workload extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector | StringMap;
    readonly template?: { readonly metadata?: KubeObject['metadata'] };
  };
}

const mostSteps = 8;
const workloadKinds = [
  deployments,
  statefulSets,
  replicaSets,
  replicationControllers,
] as readonly Resource<Workload>[];

export function ownerKey({ resource, name }: Owner): string {
  return `${resource.group}/${resource.kind}/${name}`;
}

function controllerOf(object: KubeObject | undefined): OwnerReference | undefined {
  return object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

function isAlive({ metadata, status }: Pod): boolean {
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return metadata?.deletionTimestamp === undefined && !isOver;
}
