import type { KubeClient } from '@causeway/kubernetes/client/client';
import { horizontalPodAutoscalers } from '@causeway/kubernetes/objects/resources';
import type { HorizontalPodAutoscaler } from '@causeway/kubernetes/objects/workload-objects';
import { annotationsOf, previousMinReplicas } from './annotations.ts';
import { minReplicasToRestore, sleepingMinReplicas } from './idle-plan.ts';

interface ScaleTarget {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** Stores the lower bound of each autoscaler of the target, and prevents it from scaling the target up. */
export async function putAutoscalersToSleep(
  client: KubeClient,
  namespace: string,
  target: ScaleTarget,
  signal: AbortSignal,
): Promise<void> {
  for (const autoscaler of await autoscalersOf(client, namespace, target, signal)) {
    if (annotationsOf(autoscaler)[previousMinReplicas] !== undefined) continue;
    const { name = '', resourceVersion } = autoscaler.metadata ?? {};
    const annotations = { [previousMinReplicas]: String(autoscaler.spec?.minReplicas ?? 1) };
    const patch = {
      metadata: { resourceVersion, annotations },
      spec: { minReplicas: sleepingMinReplicas(autoscaler) },
    };
    await client.patchMerge(horizontalPodAutoscalers, { namespace, name }, patch, { signal });
  }
}

export async function wakeAutoscalers(
  client: KubeClient,
  namespace: string,
  target: ScaleTarget,
  signal: AbortSignal,
): Promise<void> {
  for (const autoscaler of await autoscalersOf(client, namespace, target, signal)) {
    const stored = annotationsOf(autoscaler)[previousMinReplicas];
    if (stored === undefined) continue;
    const { name = '', resourceVersion } = autoscaler.metadata ?? {};
    const minReplicas = minReplicasToRestore(stored, autoscaler.spec?.minReplicas);
    const patch = {
      metadata: { resourceVersion, annotations: { [previousMinReplicas]: null } },
      ...(minReplicas === undefined ? {} : { spec: { minReplicas } }),
    };
    await client.patchMerge(horizontalPodAutoscalers, { namespace, name }, patch, { signal });
  }
}

async function autoscalersOf(
  client: KubeClient,
  namespace: string,
  target: ScaleTarget,
  signal: AbortSignal,
): Promise<HorizontalPodAutoscaler[]> {
  const found: HorizontalPodAutoscaler[] = [];
  for await (const autoscaler of client.list(horizontalPodAutoscalers, { namespace, signal })) {
    const reference = autoscaler.spec?.scaleTargetRef;
    const apiVersion = reference?.apiVersion ?? '';
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    const isIt =
      reference?.kind === target.kind && reference.name === target.name && group === target.group;
    if (isIt) found.push(autoscaler);
  }
  return found;
}
