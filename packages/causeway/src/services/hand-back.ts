import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Lease } from '@causeway/kubernetes/objects/workload-objects';
import { frontendFromService } from './frontend-from-service.ts';
import type { FrontendSpec } from './frontend-spec.ts';
import { cleanupFinalizer } from './plan.ts';
import { recordAnnotation } from './record.ts';

/** The decision of a provider for an owner that another controller served before. */
export type HandBackDecision =
  /** The provider does not serve the owner. */
  | { readonly kind: 'none' }
  | { readonly kind: 'keep'; readonly because: string }
  /** `annotations` are the marks of the provider, which are removed. */
  | { readonly kind: 'hand-back'; readonly annotations: readonly string[] };

/** The change that returns a Service, with its address, to the controller that served it before. */
export type HandBack =
  /** The provider does not serve the Service. */
  | { readonly kind: 'none' }
  | { readonly kind: 'keep'; readonly because: string }
  | { readonly kind: 'patch'; readonly patch: object };

export function handBack(
  service: Service,
  decide: (frontend: FrontendSpec) => HandBackDecision,
): HandBack {
  const decision = decide(frontendFromService(service));
  if (decision.kind !== 'hand-back') return decision;
  return withoutOurMarks(service, decision.annotations);
}

/**
 * Removes Causeway's record, its finalizer and these annotations from a Service. A finalizer that no
 * controller removes would block the deletion of the Service.
 */
export function withoutOurMarks(
  { metadata = {} }: Service,
  annotations: readonly string[] = [],
): HandBack {
  const { finalizers = [], resourceVersion, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) {
    return { kind: 'keep', because: 'it is being deleted; wait until Causeway has finished' };
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

/** The current holder of the controller's lease, or undefined. */
export function holderOf(lease: Lease | undefined, nowMs: number): string | undefined {
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease?.spec ?? {};
  if (holderIdentity === undefined || holderIdentity === '' || renewTime === undefined) {
    return undefined;
  }
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 > nowMs ? holderIdentity : undefined;
}
