import { addressFromInteger, addressToInteger } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { prefixFamily, prefixSize, type Prefix } from '@causeway/base/address/prefix';
import type { Pod } from '../resources/pod/pod-type.ts';
import type { PodRunner, RunningPod } from './pod-runner.ts';
import { keyOf } from './store-controller.ts';

/**
 * Simulates pods without containers. Pods get an address and are ready immediately, unless a test decides
 * otherwise. Starting and stopping takes no time.
 */
export class MemoryPodRunner implements PodRunner {
  readonly #ranges: readonly Prefix[];
  readonly #hostAddressOf: (pod: Pod) => string;
  readonly #running = new Map<string, number>();
  readonly #taken = new Set<number>();
  readonly #unready = new Set<string>();
  readonly #listeners = new Set<(key: string) => void>();
  #next = 1;

  /** Ranges of pod addresses, at most one per address family. */
  constructor(
    podRanges: readonly Prefix[],
    hostAddressOf: (pod: Pod) => string = () => '192.0.2.1',
  ) {
    this.#ranges = podRanges;
    this.#hostAddressOf = hostAddressOf;
  }

  start(pod: Pod): Promise<RunningPod> {
    const hostAddresses = [this.#hostAddressOf(pod)];
    if (pod.spec.hostNetwork === true) {
      return Promise.resolve({ addresses: hostAddresses, hostAddresses });
    }
    const offset = this.#running.get(pod.metadata.uid) ?? this.#take(pod.metadata.uid);
    const addresses = this.#ranges.map((range) =>
      addressFromInteger(addressToInteger(range.address) + BigInt(offset), prefixFamily(range)),
    );
    return Promise.resolve({ addresses, hostAddresses });
  }

  stop(pod: Pod): Promise<void> {
    const { uid } = pod.metadata;
    const offset = this.#running.get(uid);
    if (offset !== undefined) this.#taken.delete(offset);
    this.#running.delete(uid);
    this.#unready.delete(keyOf(pod));
    return Promise.resolve();
  }

  isReady(pod: Pod): boolean {
    return !this.#unready.has(keyOf(pod));
  }

  onReadinessChange(listener: (key: string) => void): { close(): void } {
    this.#listeners.add(listener);
    return { close: () => void this.#listeners.delete(listener) };
  }

  /** Sets the readiness of a pod (`namespace/name`), like a probe result. */
  setReady(key: string, isReady: boolean): void {
    if (isReady) this.#unready.delete(key);
    else this.#unready.add(key);
    for (const listener of this.#listeners) listener(key);
  }

  /** Allocates addresses in a cycle, so that a released address is not reused immediately. */
  #take(uid: string): number {
    const sizes = this.#ranges.map((range) => Number(prefixSize(range)));
    const size = Math.min(...sizes, 2 ** 20);
    for (let tries = 0; tries < size; tries += 1) {
      const offset = this.#next;
      this.#next = this.#next + 1 >= size - 1 ? 1 : this.#next + 1;
      if (this.#taken.has(offset)) continue;
      this.#taken.add(offset);
      this.#running.set(uid, offset);
      return offset;
    }
    throw new CausewayError('exhausted', 'the pod network has no free address', {
      hint: 'Use a wider prefix for pods.',
    });
  }
}
