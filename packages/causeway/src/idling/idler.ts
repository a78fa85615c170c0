import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Endpoints, Service } from '@causeway/kubernetes/objects/core-objects';
import type { ObjectName } from '@causeway/kubernetes/objects/object';
import { endpoints, services } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import {
  annotationsOf,
  formatIdledAt,
  formatTargets,
  hasIdledAt,
  idledAt,
  previousScale,
  unidleTargets,
  type UnidleTarget,
} from './annotations.ts';
import { putAutoscalersToSleep } from './autoscalers.ts';
import { planTargets, refusalOf, type TargetState } from './idle-plan.ts';
import { OwnerResolver, type Owner, type Resolution } from './resolve-owners.ts';
import type { ScaleDiscovery } from './scale-discovery.ts';

export interface IdlerOptions {
  readonly client: KubeClient;
  readonly discovery: ScaleDiscovery;
  readonly clock: Clock;
}

/** The plan to idle one Service. */
export interface IdlePlan {
  readonly service: Service;
  readonly endpoints: Endpoints | undefined;
  readonly owners: readonly Owner[];
  readonly targets: readonly UnidleTarget[];
  /** The names of the pods that stop. */
  readonly pods: readonly string[];
  readonly warnings: readonly string[];
  /** The Service is marked, and all targets have no replicas. */
  readonly isAsleep: boolean;
}

/**
 * A client may wake the Service during the idling. The idler then starts over, up to this number of rounds.
 */
const mostRounds = 5;

/**
 * Idles Services. The annotation comes first and the scale to 0 last. A connection in between is either
 * served by a running pod or held by the proxy.
 */
export class Idler {
  readonly #options: IdlerOptions;
  readonly #resolver: OwnerResolver;

  constructor(options: IdlerOptions) {
    this.#options = options;
    this.#resolver = new OwnerResolver(options.client, options.discovery);
  }

  /** Reads only. */
  async plan(name: ObjectName, signal: AbortSignal): Promise<IdlePlan> {
    const { client } = this.#options;
    const service = await client.get(services, name, { signal });
    const refusal = refusalOf(service);
    if (refusal !== undefined) throw cannotSleep(name, refusal);
    const resolution = await this.#resolver.resolve(service, signal);
    if (resolution.problems.length > 0) throw cannotSleep(name, resolution.problems.join('; '));
    const current = await client.find(endpoints, name, { signal });
    return this.#complete(service, current, resolution, signal);
  }

  async #complete(
    service: Service,
    current: Endpoints | undefined,
    resolution: Resolution,
    signal: AbortSignal,
  ): Promise<IdlePlan> {
    const namespace = service.metadata?.namespace ?? '';
    const states: TargetState[] = [];
    for (const { resource, name } of resolution.owners) {
      const { client } = this.#options;
      const scale = await client.getScale(resource, { namespace, name }, { signal });
      const object = await client.get(resource, { namespace, name }, { signal });
      states.push({
        kind: resource.kind,
        group: resource.group,
        name,
        currentReplicas: scale.spec?.replicas ?? 0,
        previousScale: annotationsOf(object)[previousScale],
      });
    }
    const targets = planTargets(service, current, states);
    const { owners, pods, warnings } = resolution;
    const isAsleep =
      hasIdledAt(service) && states.every(({ currentReplicas }) => currentReplicas === 0);
    return { service, endpoints: current, owners, targets, pods, warnings, isAsleep };
  }

  /** Idles the Service. Safe to repeat after an interruption at any point. */
  async idle(name: ObjectName, signal: AbortSignal): Promise<IdlePlan> {
    const { client } = this.#options;
    for (let round = 0; round < mostRounds; round += 1) {
      const plan = await this.plan(name, signal);
      const time = await this.#annotate(name, plan, signal);
      if (!(await this.#scaleDown(name, plan, signal))) continue;
      const after = await client.get(services, name, { signal });
      if (annotationsOf(after)[idledAt] === time) return plan;
    }
    throw new CausewayError('conflict', `${fullName(name)} is woken or changed again and again`, {
      hint: 'A client is connecting to the Service, or another idling runs. Try again when the Service is unused.',
    });
  }

  async #annotate(name: ObjectName, plan: IdlePlan, signal: AbortSignal): Promise<string> {
    const { client, clock } = this.#options;
    const time = formatIdledAt(clock.wallTime());
    const annotations = { [idledAt]: time, [unidleTargets]: formatTargets(plan.targets) };
    const patch = { metadata: { annotations } };
    await client.patchMerge(services, name, patch, { signal });
    try {
      await client.patchMerge(endpoints, name, patch, { signal });
    } catch (error) {
      // A Service without endpoints has no such object. The mark on the Service is enough.
      if (!isErrorCode(error, 'not-found')) throw error;
    }
    return time;
  }

  /** Returns false after a concurrent write, for example of an autoscaler. The caller then starts over. */
  async #scaleDown(name: ObjectName, plan: IdlePlan, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#scaleAllDown(name, plan, signal);
      return true;
    } catch (error) {
      if (!isErrorCode(error, 'conflict')) throw error;
      return false;
    }
  }

  async #scaleAllDown({ namespace = '' }: ObjectName, plan: IdlePlan, signal: AbortSignal) {
    const { client } = this.#options;
    for (const { resource, name } of plan.owners) {
      const target = { group: resource.group, kind: resource.kind, name };
      const recorded = plan.targets.find(
        ({ kind, name: other, group }) =>
          kind === target.kind && other === name && group === target.group,
      );
      await putAutoscalersToSleep(client, namespace, target, signal);
      const annotations = { [previousScale]: String(recorded?.replicas ?? 1) };
      await client.patchMerge(
        resource,
        { namespace, name },
        { metadata: { annotations } },
        { signal },
      );
      await client.setScale(resource, { namespace, name }, 0, { signal });
    }
  }
}

function cannotSleep(name: ObjectName, why: string): CausewayError {
  return new CausewayError('invalid', `${fullName(name)} can't be put to sleep: ${why}`);
}

function fullName({ namespace, name }: ObjectName): string {
  return `Service ${namespace ?? ''}/${name}`;
}
