import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Endpoints, Service } from '@causeway/kubernetes/objects/core-objects';
import type { KubeObject, ObjectName } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { endpoints, services } from '@causeway/kubernetes/objects/resources';
import {
  annotationsOf,
  hasIdledAt,
  idledAt,
  parseTargets,
  previousScale,
  unidleTargets,
  type ParsedTargets,
  type UnidleTarget,
} from './annotations.ts';
import { wakeAutoscalers } from './autoscalers.ts';
import type { ScaleDiscovery } from './scale-discovery.ts';

export interface WakerOptions {
  readonly client: KubeClient;
  readonly discovery: ScaleDiscovery;
}

export interface Started {
  /** Scaled up by this call. */
  readonly started: readonly UnidleTarget[];
  /** Had replicas already: another program or an earlier call scaled it up. */
  readonly running: readonly UnidleTarget[];
  /** Does not exist any more. */
  readonly missing: readonly UnidleTarget[];
  /** Could not be scaled up; the other targets were. */
  readonly failed: readonly FailedTarget[];
}

export interface FailedTarget {
  readonly target: UnidleTarget;
  readonly error: CausewayError;
}

/** The targets of an idle Service. The annotation of the Endpoints counts where a very old `oc` wrote it. */
export function targetsOf(service: Service, current: Endpoints | undefined): ParsedTargets {
  const source = hasIdledAt(service) ? service : current;
  return parseTargets(annotationsOf(source)[unidleTargets]);
}

/** The steps of a wake-up. Each can be repeated and interrupted at any point. */
export class Waker {
  readonly #client: KubeClient;
  readonly #discovery: ScaleDiscovery;

  constructor({ client, discovery }: WakerOptions) {
    this.#client = client;
    this.#discovery = discovery;
  }

  /** Scales up every target without replicas. A failure does not block the other targets. */
  async start(
    namespace: string,
    targets: readonly UnidleTarget[],
    signal: AbortSignal,
  ): Promise<Started> {
    const started: UnidleTarget[] = [];
    const running: UnidleTarget[] = [];
    const missing: UnidleTarget[] = [];
    const failed: FailedTarget[] = [];
    const places = { started, running, missing };
    for (const target of targets) {
      try {
        places[await this.#startOne(namespace, target, signal)].push(target);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        if (signal.aborted) throw error;
        failed.push({ target, error });
      }
    }
    return { ...places, failed };
  }

  async #startOne(
    namespace: string,
    target: UnidleTarget,
    signal: AbortSignal,
  ): Promise<'started' | 'running' | 'missing'> {
    const resource = await this.#resourceOf(target, signal);
    if (resource === undefined) return 'missing';
    try {
      return await this.#scaleUp(resource, namespace, target, signal);
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
    }
    // The kind may be served in another version now.
    this.#discovery.drop(target);
    const other = await this.#resourceOf(target, signal);
    if (other === undefined || other.version === resource.version) return 'missing';
    return this.#scaleUp(other, namespace, target, signal);
  }

  async #scaleUp(
    resource: Resource,
    namespace: string,
    { name, replicas }: UnidleTarget,
    signal: AbortSignal,
  ): Promise<'started' | 'running'> {
    const where = { namespace, name };
    const scale = await this.#client.getScale(resource, where, { signal });
    if ((scale.spec?.replicas ?? 0) > 0) return 'running';
    await this.#client.setScale(resource, where, Math.max(replicas, 1), { signal });
    return 'started';
  }

  /**
   * Whether all targets of a marked Service have no replicas. True if they are unreadable, because the
   * controller can't judge them.
   */
  async isAsleep(service: Service, signal: AbortSignal): Promise<boolean> {
    const parsed = targetsOf(service, undefined);
    const namespace = service.metadata?.namespace ?? '';
    return !parsed.ok || this.areAllAsleep(namespace, parsed.targets, signal);
  }

  /** Whether everything that still exists has no replicas. */
  async areAllAsleep(
    namespace: string,
    targets: readonly UnidleTarget[],
    signal: AbortSignal,
  ): Promise<boolean> {
    for (const target of targets) {
      const resource = await this.#resourceOf(target, signal);
      if (resource === undefined) continue;
      const where = { namespace, name: target.name };
      if ((await this.#client.find(resource, where, { signal })) === undefined) continue;
      const scale = await this.#client.getScale(resource, where, { signal });
      if ((scale.spec?.replicas ?? 0) > 0) return false;
    }
    return true;
  }

  /**
   * Removes the marks of the idle period. The Service's own annotation goes last, because it triggers the
   * next call after an interruption. It is removed only if the Service was not idled again since it was read.
   *
   * Another program may be idling the Service at the same time. That program writes the mark, scales to 0 and
   * then checks whether the mark is still there. This function removes the mark and then checks for targets
   * without replicas. The later check sees the other write, so a Service without a mark never stays without
   * pods.
   */
  async finish(
    service: Service,
    targets: readonly UnidleTarget[],
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace = '', name = '', resourceVersion } = service.metadata ?? {};
    for (const target of targets) {
      const resource = await this.#resourceOf(target, signal);
      if (resource === undefined) continue;
      await wakeAutoscalers(this.#client, namespace, target, signal);
      await this.#unmark(resource, { namespace, name: target.name }, [previousScale], signal);
    }
    const marks = [idledAt, unidleTargets];
    await this.#unmark(endpoints, { namespace, name }, marks, signal);
    if (!hasIdledAt(service)) return;
    await this.#client.patchMerge(
      services,
      { namespace, name },
      { metadata: { resourceVersion, annotations: nulls(marks) } },
      { signal },
    );
    const { failed } = await this.start(namespace, targets, signal);
    if (failed[0] !== undefined) throw failed[0].error;
  }

  async #resourceOf(target: UnidleTarget, signal: AbortSignal): Promise<Resource | undefined> {
    const { group, kind } = target;
    const found = await this.#discovery.find({ group, kind }, signal);
    return found?.hasScale === true ? found.resource : undefined;
  }

  /** Removes annotations from an object, if it exists and has them. */
  async #unmark(
    resource: Resource,
    name: ObjectName,
    marks: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const object: KubeObject | undefined = await this.#client.find(resource, name, { signal });
    const present = marks.filter((mark) => annotationsOf(object)[mark] !== undefined);
    if (present.length === 0) return;
    const metadata = {
      resourceVersion: object?.metadata?.resourceVersion,
      annotations: nulls(present),
    };
    await this.#client.patchMerge(resource, name, { metadata }, { signal });
  }
}

function nulls(names: readonly string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]));
}
