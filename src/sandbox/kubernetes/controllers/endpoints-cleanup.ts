import { done } from '../../../runtime/controller.ts';
import {
  keyOf,
  splitKey,
  type ControllerSetting,
  type StoreController,
} from './store-controller.ts';

/** With a Service go the Endpoints of its name, whoever made them. Belongs to the API server itself. */
export function endpointsCleanup({ api }: ControllerSetting): StoreController {
  return {
    name: 'endpointscleanup',
    watches: {
      *services({ type, object }) {
        if (type === 'DELETED') yield keyOf(object);
      },
    },
    reconcile(key) {
      const { namespace, name } = splitKey(key);
      const isGone = api.store.get('services', namespace, name) === undefined;
      const isLeft = api.store.get('endpoints', namespace, name) !== undefined;
      if (isGone && isLeft) api.delete('endpoints', namespace, name);
      return done;
    },
  };
}
