import type { Service } from '../kube/core-objects.ts';
import type { Owner } from './provider.ts';

/** Everyone that a provider holds something for, by UID and by name. */
export class OwnerIndex {
  readonly #byUid = new Map<string, Owner>();
  readonly #byName = new Map<string, Map<string, Owner>>();

  add(service: Service): Owner {
    const { namespace = '', name = '', uid = '' } = service.metadata ?? {};
    const known = this.#byUid.get(uid);
    if (known !== undefined) return known;
    const owner = { namespace, name, uid };
    this.#byUid.set(uid, owner);
    const key = `${namespace}/${name}`;
    const named = this.#byName.get(key);
    if (named === undefined) this.#byName.set(key, new Map([[uid, owner]]));
    else named.set(uid, owner);
    return owner;
  }

  remove(owner: Owner): void {
    this.#byUid.delete(owner.uid);
    const key = `${owner.namespace}/${owner.name}`;
    const named = this.#byName.get(key);
    named?.delete(owner.uid);
    if (named?.size === 0) this.#byName.delete(key);
  }

  get(uid: string): Owner | undefined {
    return this.#byUid.get(uid);
  }

  all(): Iterable<Owner> {
    return this.#byUid.values();
  }

  named(key: string): readonly Owner[] {
    return [...(this.#byName.get(key)?.values() ?? [])];
  }
}
