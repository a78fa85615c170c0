import type { Clock } from '@causeway/base/time/clock';
import type {
  ClusterApi,
  DeleteOptions,
  NewObject,
  UpdateOptions,
  WriteOptions,
} from '../cluster-api.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import {
  type GroupResource,
  storageResource,
  type ResourceDefinition,
} from '../resource-definition.ts';
import { ApiError } from '../status.ts';
import { ObjectStore } from '../store.ts';
import { type Deletion, deleteObject } from './deletion.ts';
import { asDraft } from './new-object.ts';
import { Registry } from './registry.ts';
import { type ServedResource, serveBuiltIn } from './served-resource.ts';
import { Writes } from './writes.ts';

const inProcessManager = 'causeway-sandbox';

/** The API without HTTP: served resources, the store, and the writes between them. */
export class EmbeddedCluster implements ClusterApi {
  readonly store: ObjectStore;
  readonly registry = new Registry();
  readonly writes: Writes;
  readonly #clock: Clock;

  constructor(clock: Clock, store = new ObjectStore()) {
    this.store = store;
    this.#clock = clock;
    this.writes = new Writes(this.store, clock);
  }

  serve(definitions: readonly ResourceDefinition[]): void {
    for (const definition of definitions) this.registry.put([serveBuiltIn(definition)]);
  }

  definition(resource: GroupResource): ResourceDefinition | undefined {
    return this.registry.get(resource)?.definition;
  }

  definitions(): readonly ResourceDefinition[] {
    return this.registry.all().map(({ definition }) => definition);
  }

  create(resource: GroupResource, object: NewObject, options: WriteOptions = {}): KubeObject {
    const served = this.#served(resource);
    return this.writes.create(served, draftOf(served, object), {
      ...options,
      fieldManager: options.fieldManager ?? inProcessManager,
    });
  }

  update(resource: GroupResource, object: KubeObject, options: UpdateOptions = {}): KubeObject {
    const served = this.#served(resource);
    return this.writes.update(served, draftOf(served, object), {
      ...options,
      fieldManager: options.fieldManager ?? inProcessManager,
    });
  }

  delete(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): KubeObject {
    return this.remove(this.#served(resource).definition, namespace, name, options).object;
  }

  /** Like `delete`, and also returns whether the object is deleted or only marked. */
  remove(
    definition: ResourceDefinition,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions,
  ): Deletion {
    return deleteObject(this.store, this.#clock, definition, namespace, name, options);
  }

  get(definition: ResourceDefinition, namespace: string | undefined, name: string) {
    return this.store.get(storageResource(definition), namespace, name);
  }

  #served(resource: GroupResource): ServedResource {
    const served = this.registry.get(resource);
    if (served === undefined) {
      throw new ApiError('NotFound', 'the server could not find the requested resource');
    }
    return served;
  }
}

/** Decodes a copy of the object as its kind. A value that doesn't fit the kind is a bug in the caller. */
function draftOf(served: ServedResource, object: JsonObject): KubeObject {
  const { object: read, mismatches } = served.decode(structuredClone(object));
  const [mismatch] = mismatches;
  if (mismatch !== undefined) throw new ApiError('BadRequest', mismatch);
  return asDraft(read);
}
