import type { ClusterApi } from '../cluster-api.ts';
import type { KubeObject } from '../object.ts';
import type { Pod, PodTemplate } from '../resources/pod/pod-type.ts';
import { controllerReference } from './store-controller.ts';

/** Creates a pod from a template, with the given name or with a name generated from the owner's. */
export function createPod(
  api: ClusterApi,
  owner: KubeObject,
  template: PodTemplate,
  change: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> } = {},
): Pod {
  const { metadata = {}, spec } = structuredClone(template);
  const { labels, annotations, finalizers } = metadata;
  return api.create('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${owner.metadata.name}-`,
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
      labels: { ...labels, ...change.labels },
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [controllerReference(owner)],
    },
    spec,
  }) as Pod;
}
