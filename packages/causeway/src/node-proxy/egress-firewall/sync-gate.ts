import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { ServiceProxy } from '../served-service.ts';

/** Passes everything on, but `synced` only after the gate was opened too. */
export class SyncGate implements ServiceProxy {
  readonly #inner: ServiceProxy;
  #isOpen = false;
  #isSynced = false;

  constructor(inner: ServiceProxy) {
    this.#inner = inner;
  }

  open(): void {
    this.#isOpen = true;
    this.#pass();
  }

  synced(): void {
    this.#isSynced = true;
    this.#pass();
  }

  setService(service: Service): void {
    this.#inner.setService(service);
  }

  removeService(key: string): void {
    this.#inner.removeService(key);
  }

  setSlice(slice: EndpointSlice): void {
    this.#inner.setSlice(slice);
  }

  removeSlice(key: string): void {
    this.#inner.removeSlice(key);
  }

  #pass(): void {
    if (this.#isOpen && this.#isSynced) this.#inner.synced();
  }
}
