import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Lease } from '@causeway/kubernetes/objects/workload-objects';
import { cleanupFinalizer } from './plan.ts';
import { recordAnnotation } from './record.ts';

/** What is to be done so that whoever served a Service before takes it back with the address it has. */
export type HandBack =
  /** It is not served by the provider in question. */
  | { readonly kind: 'none' }
  | { readonly kind: 'keep'; readonly because: string }
  | { readonly kind: 'patch'; readonly patch: object };

/**
 * Takes our record, our finalizer and these annotations off a Service. With the finalizer on it, and nobody
 * left who takes it off, it could never be deleted.
 */
export function withoutOurMarks(
  { metadata = {} }: Service,
  annotations: readonly string[] = [],
): HandBack {
  const { finalizers = [], resourceVersion, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) {
    return { kind: 'keep', because: 'it is being deleted; let Causeway finish that' };
  }
  const removed = [recordAnnotation, ...annotations].map((name) => [name, null]);
  return {
    kind: 'patch',
    patch: {
      metadata: {
        resourceVersion,
        annotations: Object.fromEntries(removed) as object,
        finalizers: finalizers.filter((name) => name !== cleanupFinalizer),
      },
    },
  };
}

/** Who holds the controller's lease now, if anybody does. */
export function holderOf(lease: Lease | undefined, nowMs: number): string | undefined {
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease?.spec ?? {};
  if (holderIdentity === undefined || holderIdentity === '' || renewTime === undefined) {
    return undefined;
  }
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 > nowMs ? holderIdentity : undefined;
}
