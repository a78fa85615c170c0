import { done } from '@causeway/base/work/controller';
import { ownKey, type ControllerSetting, type StoreController } from './store-controller.ts';

/** Creates the ServiceAccount `default` in every namespace. */
export function serviceAccountController({ api }: ControllerSetting): StoreController {
  return {
    name: 'serviceaccount',
    watches: {
      namespaces: ownKey,
      *serviceaccounts({ object }) {
        if (object.metadata.namespace !== undefined) yield object.metadata.namespace;
      },
    },
    reconcile(name) {
      const namespace = api.store.get('namespaces', undefined, name);
      const isStaying =
        namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
      if (!isStaying || api.store.get('serviceaccounts', name, 'default') !== undefined)
        return done;
      const metadata = { name: 'default', namespace: name };
      api.create('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
      return done;
    },
  };
}
