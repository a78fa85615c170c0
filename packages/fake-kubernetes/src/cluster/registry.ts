import { type GroupResource, groupResource } from '../resource-definition.ts';
import type { ServedResource } from './served-resource.ts';

/** The resources that are served now: built-in resources and those of CustomResourceDefinitions. */
export class Registry {
  readonly #byResource = new Map<GroupResource, readonly ServedResource[]>();
  #revision = 0;

  /**
   * Changes whenever a resource is added or removed. Documents that are generated from the registry depend on
   * it.
   */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Serves a resource in these versions, the preferred version first. Replaces the versions served before.
   */
  put(versions: readonly [ServedResource, ...ServedResource[]]): void {
    this.#byResource.set(groupResource(versions[0].definition), versions);
    this.#revision += 1;
  }

  remove(resource: GroupResource): void {
    if (this.#byResource.delete(resource)) this.#revision += 1;
  }

  /** The resource in its preferred version. */
  get(resource: GroupResource): ServedResource | undefined {
    return this.#byResource.get(resource)?.[0];
  }

  at(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#byResource
      .get(groupResource({ group, plural }))
      ?.find((served) => served.definition.version === version);
  }

  /** Every resource in every version. */
  all(): readonly ServedResource[] {
    return [...this.#byResource.values()].flat();
  }
}
