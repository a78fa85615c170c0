import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import type { EgressNetworkPolicy } from '../egress-firewall/egress-network-policy.ts';
import { parseEgressPolicy } from '../egress-firewall/egress-rules.ts';
import type { ProxyStore } from '../proxy-store.ts';

/** Writes objects to the store of a proxy like a reflector, each with a new version. */
export class StoreWriter {
  readonly store: ProxyStore;
  #version = 0;

  constructor(store: ProxyStore) {
    this.store = store;
  }

  setService(service: Service): void {
    this.store.services.put(this.#next(service));
  }

  removeService(key: string): void {
    this.store.services.remove(key);
  }

  setSlice(slice: EndpointSlice): void {
    this.store.slices.put(this.#next(slice));
  }

  removeSlice(key: string): void {
    this.store.slices.remove(key);
  }

  setPolicy(policy: EgressNetworkPolicy): void {
    this.store.policies.put(parseEgressPolicy(this.#next(policy)));
  }

  removePolicy(key: string): void {
    this.store.policies.remove(key);
  }

  /** All initial objects are written. */
  synced(): void {
    const { services, slices } = this.store;
    void services.replace(byKey(services.values()), () => undefined);
    void slices.replace(byKey(slices.values()), () => undefined);
  }

  #next<T extends KubeObject>(object: T): T {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    return { ...object, metadata: { ...object.metadata, resourceVersion } };
  }
}

function byKey<T extends KubeObject>(objects: Iterable<T>): Map<string, T> {
  return new Map([...objects].map((object) => [keyOf(object), object]));
}
