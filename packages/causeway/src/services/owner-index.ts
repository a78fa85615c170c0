import { SmallSets } from '@causeway/base/work/small-sets';
import type { Owner } from './provider.ts';

/** All owners of a provider's load balancers, by UID and by name. */
export class OwnerIndex {
  readonly #byUid = new Map<string, Owner>();
  readonly #byName = new SmallSets<string, Owner>();

  add({ namespace, name, uid }: Owner): Owner {
    const known = this.#byUid.get(uid);
    if (known !== undefined) return known;
    const owner = { namespace, name, uid };
    this.#byUid.set(uid, owner);
    this.#byName.add(`${namespace}/${name}`, owner);
    return owner;
  }

  remove(owner: Owner): void {
    const known = this.#byUid.get(owner.uid);
    if (known === undefined) return;
    this.#byUid.delete(owner.uid);
    this.#byName.delete(`${known.namespace}/${known.name}`, known);
  }

  get(uid: string): Owner | undefined {
    return this.#byUid.get(uid);
  }

  all(): Iterable<Owner> {
    return this.#byUid.values();
  }

  named(key: string): readonly Owner[] {
    return [...this.#byName.of(key)];
  }
}
