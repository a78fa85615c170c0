import type { EndpointSlice } from '../kube/network-objects.ts';
import { keyOf } from '../kube/object.ts';

const serviceNameLabel = 'kubernetes.io/service-name';

/** The slices of each Service, however many it has. */
export class SliceIndex {
  readonly #byService = new Map<string, Map<string, EndpointSlice>>();
  readonly #owners = new Map<string, string>();

  /** Answers with the Services that are affected: two when a slice was handed from one to another. */
  set(slice: EndpointSlice): string[] {
    const key = keyOf(slice);
    const owner = ownerOf(slice);
    const before = this.#owners.get(key);
    const affected: string[] = [];
    if (before !== undefined && before !== owner) {
      this.remove(key);
      affected.push(before);
    }
    if (owner === undefined) return affected;
    this.#owners.set(key, owner);
    const slices = this.#byService.get(owner);
    if (slices === undefined) this.#byService.set(owner, new Map([[key, slice]]));
    else slices.set(key, slice);
    return [...affected, owner];
  }

  /** Answers with the Service that has lost it. */
  remove(key: string): string | undefined {
    const owner = this.#owners.get(key);
    if (owner === undefined) return undefined;
    this.#owners.delete(key);
    const slices = this.#byService.get(owner);
    slices?.delete(key);
    if (slices?.size === 0) this.#byService.delete(owner);
    return owner;
  }

  /** In the order of their names, so that the result never depends on what came first. */
  of(service: string): EndpointSlice[] {
    const slices = [...(this.#byService.get(service) ?? [])];
    return slices.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, slice]) => slice);
  }
}

function ownerOf(slice: EndpointSlice): string | undefined {
  const name = slice.metadata?.labels?.[serviceNameLabel];
  const { namespace } = slice.metadata ?? {};
  return name === undefined || name === '' || namespace === undefined
    ? undefined
    : `${namespace}/${name}`;
}
