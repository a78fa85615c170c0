import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Pod, Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { pods, services } from '@causeway/kubernetes/objects/resources';
import { hasIdledAt } from './annotations.ts';
import { refusalOf } from './idle-plan.ts';
import type { IdlePlan } from './idler.ts';

/** Warnings for Services that lose their pods because other Services are idled. */
export async function sharedPods(
  client: KubeClient,
  plans: readonly IdlePlan[],
  signal: AbortSignal,
): Promise<string[]> {
  const losing = await servicesLosingPods(client, plans, signal);
  return losing.map((other) => {
    const refusal = refusalOf(other);
    const what = `Service ${keyOf(other)} is served by the same pods`;
    return refusal === undefined
      ? `${what} and will refuse connections: idle that Service too`
      : `${what} and will have none, and no connection wakes the pods: ${refusal}`;
  });
}

/** Services that lose pods by the plans and are not idle. Their connections would be refused. */
export async function servicesLosingPods(
  client: KubeClient,
  plans: readonly IdlePlan[],
  signal: AbortSignal,
): Promise<Service[]> {
  const slept = new Set(plans.map(({ service }) => keyOf(service)));
  const losing: Service[] = [];
  for (const namespace of new Set(plans.map(({ service }) => service.metadata?.namespace ?? ''))) {
    const stopped = new Set(
      plans
        .filter(({ service }) => service.metadata?.namespace === namespace)
        .flatMap((plan) => plan.pods),
    );
    const ending: Pod[] = [];
    for await (const pod of client.list(pods, { namespace, signal })) {
      if (stopped.has(pod.metadata?.name ?? '')) ending.push(pod);
    }
    for await (const other of client.list(services, { namespace, signal })) {
      if (slept.has(keyOf(other)) || hasIdledAt(other)) continue;
      if (ending.some((pod) => isChosenBy(other, pod))) losing.push(other);
    }
  }
  return losing;
}

function isChosenBy({ spec }: Service, { metadata }: Pod): boolean {
  const selector = Object.entries(spec?.selector ?? {});
  return selector.length > 0 && selector.every(([key, value]) => metadata?.labels?.[key] === value);
}
