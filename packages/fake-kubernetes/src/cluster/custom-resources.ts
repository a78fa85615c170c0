import {
  definitionsResource,
  hasCrdCondition,
  type CustomResourceDefinition,
} from '../resources/custom/crd-type.ts';
import { serveCustomResource } from '../resources/custom/custom-resource.ts';
import type { ObjectStore } from '../store.ts';
import type { Registry } from './registry.ts';

/** Serves the resources of CustomResourceDefinitions as soon as their names are accepted. */
export function serveCustomResources(store: ObjectStore, registry: Registry): void {
  store.watch(definitionsResource, store.version, ({ type, object }) => {
    const crd = object as CustomResourceDefinition;
    if (type === 'DELETED') {
      registry.remove(crd.metadata.name);
      return;
    }
    const [first, ...rest] = hasCrdCondition(crd, 'Established') ? serveCustomResource(crd) : [];
    if (first === undefined) registry.remove(crd.metadata.name);
    else registry.put([first, ...rest]);
  });
}
