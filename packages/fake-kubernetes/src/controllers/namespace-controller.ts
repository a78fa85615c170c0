import { done, wait, type Outcome } from '@causeway/base/work/controller';
import type { KubeObject } from '../object.ts';
import { groupResource, type GroupResource } from '../resource-definition.ts';
import type { Namespace } from '../resources/namespace.ts';
import type { Condition } from '../resources/workload-type.ts';
import { jsonEqual } from '../schema/json.ts';
import { withCondition } from './condition.ts';
import type { ControllerSetting, StoreController } from './store-controller.ts';
import { now } from './timestamp.ts';

const finalizer = 'kubernetes';

/** Deletes the content of a deleted namespace, then removes its finalizer. */
export function namespaceController(setting: ControllerSetting): StoreController {
  const { store } = setting.api;
  return {
    name: 'namespace',
    *follows(resource, { object }) {
      const name = resource === 'namespaces' ? object.metadata.name : object.metadata.namespace;
      const namespace = name === undefined ? undefined : store.get('namespaces', undefined, name);
      if (namespace?.metadata.deletionTimestamp !== undefined) yield namespace.metadata.name;
    },
    reconcile: (name) => reconcileNamespace(setting, name),
  };
}

function reconcileNamespace(setting: ControllerSetting, name: string): Outcome {
  const { api } = setting;
  const namespace = api.store.get('namespaces', undefined, name) as Namespace | undefined;
  if (namespace?.metadata.deletionTimestamp === undefined) return done;
  for (const [resource, objects] of contentOf(setting, name)) {
    for (const { metadata } of objects) {
      if (metadata.deletionTimestamp !== undefined) continue;
      api.delete(resource, name, metadata.name, { propagationPolicy: 'Background' });
    }
  }
  const remaining = contentOf(setting, name);
  if (remaining.length > 0) {
    reportRemaining(setting, namespace, remaining);
    return wait('content remains');
  }
  const latest = api.store.get('namespaces', undefined, name) as Namespace | undefined;
  const finalizers = latest?.spec.finalizers ?? [];
  if (latest === undefined || !finalizers.includes(finalizer)) return done;
  const draft = structuredClone(latest);
  draft.spec.finalizers = finalizers.filter((one) => one !== finalizer);
  api.update('namespaces', draft, { subresource: 'finalize' });
  return done;
}

type Content = readonly (readonly [GroupResource, readonly KubeObject[]])[];

function contentOf({ api }: ControllerSetting, namespace: string): Content {
  const resources = new Set(
    api
      .definitions()
      .filter(({ namespaced }) => namespaced)
      .map(groupResource),
  );
  return [...resources]
    .map((resource) => [resource, api.store.list(resource, namespace)] as const)
    .filter(([, objects]) => objects.length > 0);
}

function reportRemaining(setting: ControllerSetting, namespace: Namespace, content: Content): void {
  const { api, clock } = setting;
  const kinds = content.map(
    ([resource, objects]) => `${resource} has ${objects.length} resource instances`,
  );
  const counts = new Map<string, number>();
  for (const [, objects] of content) {
    for (const { metadata } of objects) {
      for (const one of metadata.finalizers ?? []) counts.set(one, (counts.get(one) ?? 0) + 1);
    }
  }
  const held = [...counts].map(([one, count]) => `${one} in ${count} resource instances`);
  const found: readonly Condition[] = [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      status: 'False',
      reason: 'ResourcesDiscovered',
      message: 'All resources successfully discovered',
    },
    {
      type: 'NamespaceContentRemaining',
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: `Some resources are remaining: ${kinds.join(', ')}`,
    },
    {
      type: 'NamespaceFinalizersRemaining',
      status: held.length > 0 ? 'True' : 'False',
      reason: held.length > 0 ? 'SomeFinalizersRemain' : 'ContentHasNoFinalizers',
      message:
        held.length > 0
          ? `Some content in the namespace has finalizers remaining: ${held.join(', ')}`
          : 'All content-preserving finalizers finished',
    },
  ];
  const had = (namespace.status?.conditions ?? []) as Condition[];
  const conditions = found.reduce((all, one) => withCondition(all, one, now(clock)), had);
  if (jsonEqual(conditions, had)) return;
  const draft = structuredClone(namespace);
  draft.status = { ...draft.status, conditions };
  api.update('namespaces', draft, { subresource: 'status' });
}
