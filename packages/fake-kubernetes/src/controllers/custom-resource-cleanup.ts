import { done, wait, type Outcome } from '@causeway/base/work/controller';
import {
  cleanupFinalizer,
  definitionsResource,
  type CustomResourceDefinition,
} from '../resources/custom/crd-type.ts';
import type { ControllerSetting, StoreController } from './store-controller.ts';

/** Deletes the objects of a deleted CustomResourceDefinition, then removes its finalizer. */
export function customResourceCleanup(setting: ControllerSetting): StoreController {
  const { store } = setting.api;
  return {
    name: 'customresourcecleanup',
    *follows(resource, { object }) {
      const name = resource === definitionsResource ? object.metadata.name : resource;
      const crd = store.get(definitionsResource, undefined, name);
      if (crd?.metadata.deletionTimestamp !== undefined) yield name;
    },
    reconcile: (name) => cleanUp(setting, name),
  };
}

function cleanUp({ api }: ControllerSetting, name: string): Outcome {
  const found = api.store.get(definitionsResource, undefined, name);
  const crd = found as CustomResourceDefinition | undefined;
  const finalizers = crd?.metadata.finalizers ?? [];
  if (crd?.metadata.deletionTimestamp === undefined || !finalizers.includes(cleanupFinalizer)) {
    return done;
  }
  for (const { metadata } of api.store.list(name)) {
    if (metadata.deletionTimestamp === undefined) {
      api.delete(name, metadata.namespace, metadata.name, { propagationPolicy: 'Background' });
    }
  }
  if (api.store.list(name).length > 0) return wait('objects remain');
  const draft = structuredClone(crd);
  draft.metadata.finalizers = finalizers.filter((one) => one !== cleanupFinalizer);
  api.update(definitionsResource, draft);
  return done;
}
