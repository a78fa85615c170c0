import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { SmallSets } from '@causeway/base/work/small-sets';
import { serviceNameLabel } from './followed-objects.ts';

/** The slices of each Service. */
export class SliceIndex {
  readonly #slices = new Map<string, EndpointSlice>();
  /** Keys of slices. */
  readonly #byService = new SmallSets<string, string>();

  /** Returns the affected Services: two when a slice moved from one to another. */
  set(slice: EndpointSlice): string[] {
    const key = keyOf(slice);
    const owner = ownerOf(slice);
    const before = this.#ownerOf(key);
    const affected: string[] = [];
    if (before !== undefined && before !== owner) {
      this.remove(key);
      affected.push(before);
    }
    if (owner === undefined) return affected;
    this.#slices.set(key, slice);
    this.#byService.add(owner, key);
    return [...affected, owner];
  }

  /** Returns the Service that lost the slice. */
  remove(key: string): string | undefined {
    const owner = this.#ownerOf(key);
    if (owner === undefined) return undefined;
    this.#slices.delete(key);
    this.#byService.delete(owner, key);
    return owner;
  }

  /** In the order of their names, so that the result does not depend on the order of arrival. */
  of(service: string): EndpointSlice[] {
    const keys = [...this.#byService.of(service)].sort();
    return keys.flatMap((key) => this.#slices.get(key) ?? []);
  }

  #ownerOf(key: string): string | undefined {
    const slice = this.#slices.get(key);
    return slice === undefined ? undefined : ownerOf(slice);
  }
}

function ownerOf(slice: EndpointSlice): string | undefined {
  const name = slice.metadata?.labels?.[serviceNameLabel];
  const { namespace } = slice.metadata ?? {};
  return name === undefined || name === '' || namespace === undefined
    ? undefined
    : `${namespace}/${name}`;
}
