import { isDeepStrictEqual } from 'node:util';
import type { Address } from '@causeway/base/address/address';
import { SmallSets } from '@causeway/base/work/small-sets';
import type { Fragment } from './fragment.ts';
import type { LayoutChange } from './layout-change.ts';
import { podFragment, policyFragment, policyKey } from './policy-fragment.ts';
import type { IngressPolicy, PodPolicies } from './virtual-service.ts';

/** The old and the new contribution of one source. */
export interface FragmentChange {
  readonly before: Fragment | undefined;
  readonly after: Fragment | undefined;
}

/** New values by key; undefined for a removed one. */
type Edits<Key, Value> = Map<Key, Value | undefined>;

/**
 * The policies of a layout and the pods that they select, with the pods of each policy: the cost of a change depends on
 * the pods and policies that it touches.
 */
export class PolicyLayout {
  readonly #policies = new Map<string, IngressPolicy>();
  readonly #pods = new Map<Address, PodPolicies>();
  readonly #podsOf = new SmallSets<string, Address>();

  get policies(): IngressPolicy[] {
    return [...this.#policies.values()];
  }

  get pods(): PodPolicies[] {
    return [...this.#pods.values()];
  }

  /** Nothing changes before accept(). */
  plan(change: LayoutChange): { readonly fragments: FragmentChange[]; accept(): void } {
    const pods = this.#podEdits(change);
    const policies = this.#policyEdits(change, pods);
    return {
      fragments: this.#fragments(policies, pods),
      accept: () => this.#accept(policies, pods),
    };
  }

  #podEdits({ pods, podEdits = new Map() }: LayoutChange): Edits<Address, PodPolicies> {
    if (pods === undefined) return new Map(podEdits);
    const edits: Edits<Address, PodPolicies> = new Map();
    for (const address of this.#pods.keys()) edits.set(address, undefined);
    for (const pod of pods) edits.set(pod.address, pod);
    return edits;
  }

  #policyEdits(
    { policies, policyEdits = new Map(), podEdits }: LayoutChange,
    pods: Edits<Address, PodPolicies>,
  ): Edits<string, IngressPolicy> {
    const edits: Edits<string, IngressPolicy> = new Map(policyEdits);
    if (policies !== undefined) {
      for (const key of this.#policies.keys()) edits.set(key, undefined);
      for (const policy of policies) edits.set(policyKey(policy), policy);
    } else if (podEdits !== undefined) {
      for (const key of this.#unused(pods)) edits.set(key, undefined);
    }
    return edits;
  }

  /** Policies that the edits leave without a pod. */
  *#unused(pods: Edits<Address, PodPolicies>): Iterable<string> {
    const left = new Set<string>();
    for (const address of pods.keys()) {
      for (const key of this.#pods.get(address)?.policies ?? []) left.add(key);
    }
    for (const pod of pods.values()) for (const key of pod?.policies ?? []) left.delete(key);
    for (const key of left) if (!this.#hasOtherPod(key, pods)) yield key;
  }

  /** Ends at the first one: a policy may select thousands of pods. */
  #hasOtherPod(policy: string, edited: Edits<Address, PodPolicies>): boolean {
    for (const address of this.#podsOf.of(policy)) if (!edited.has(address)) return true;
    return false;
  }

  #fragments(
    policies: Edits<string, IngressPolicy>,
    pods: Edits<Address, PodPolicies>,
  ): FragmentChange[] {
    const wasKnown = (key: string) => this.#policies.has(key);
    const isKnown = (key: string) =>
      policies.has(key) ? policies.get(key) !== undefined : this.#policies.has(key);
    const changes: FragmentChange[] = [];
    const touched = new Set(pods.keys());
    for (const [key, after] of policies) {
      const before = this.#policies.get(key);
      if (isDeepStrictEqual(before, after)) continue;
      changes.push({
        before: before === undefined ? undefined : policyFragment(before),
        after: after === undefined ? undefined : policyFragment(after),
      });
      // A pod is sent through the policies that are known.
      if (wasKnown(key) !== isKnown(key)) {
        for (const address of this.#podsOf.of(key)) touched.add(address);
      }
    }
    for (const address of touched) {
      const before = this.#pods.get(address);
      const after = pods.has(address) ? pods.get(address) : before;
      changes.push({
        before: before === undefined ? undefined : podFragment(before, wasKnown),
        after: after === undefined ? undefined : podFragment(after, isKnown),
      });
    }
    return changes;
  }

  #accept(policies: Edits<string, IngressPolicy>, pods: Edits<Address, PodPolicies>): void {
    for (const [key, policy] of policies) {
      if (policy === undefined) this.#policies.delete(key);
      else this.#policies.set(key, policy);
    }
    for (const [address, pod] of pods) {
      for (const key of this.#pods.get(address)?.policies ?? []) this.#podsOf.delete(key, address);
      for (const key of pod?.policies ?? []) this.#podsOf.add(key, address);
      if (pod === undefined) this.#pods.delete(address);
      else this.#pods.set(address, pod);
    }
  }
}
