import type { Service } from '../../kube/core-objects.ts';
import { gatewayLayerAnnotation } from '../../kube/gateway-layer.ts';
import type { Lease } from '../../kube/workload-objects.ts';
import { cleanupFinalizer } from '../plan.ts';
import { readRecord, recordAnnotation } from '../record.ts';
import { legacyManagedAnnotation, legacyPortAnnotation, portsAnnotation } from './annotations.ts';

/** What is to be done so that ch-k8s-lbaas takes a Service back with the address it has. */
export type HandBack =
  /** It is not served by gateways. */
  | { readonly kind: 'none' }
  | { readonly kind: 'keep'; readonly because: string }
  | { readonly kind: 'patch'; readonly patch: object };

/**
 * Takes our record, our annotation and our finalizer off a Service and leaves ch-k8s-lbaas's marks, by
 * which it finds its port. Only for Services that carry them.
 */
export function handBack(service: Service): HandBack {
  const reading = readRecord(service);
  if (reading.kind !== 'record' || reading.record.provider !== 'gateway') return { kind: 'none' };
  const { annotations = {}, finalizers = [], resourceVersion } = service.metadata ?? {};
  if (service.metadata?.deletionTimestamp !== undefined) {
    return { kind: 'keep', because: 'it is being deleted; let Causeway finish that' };
  }
  if (service.spec?.loadBalancerClass !== undefined) {
    return {
      kind: 'keep',
      because: `its class ${service.spec.loadBalancerClass} can't be changed, and ch-k8s-lbaas knows none`,
    };
  }
  const isMarked =
    annotations[legacyManagedAnnotation] === 'true' &&
    annotations[legacyPortAnnotation] !== undefined;
  if (!isMarked) {
    return {
      kind: 'keep',
      because: 'it lacks the marks of ch-k8s-lbaas; run Causeway with gateway.keepWayBack first',
    };
  }
  return {
    kind: 'patch',
    patch: {
      metadata: {
        resourceVersion,
        annotations: {
          [recordAnnotation]: null,
          [portsAnnotation]: null,
          [gatewayLayerAnnotation]: null,
        },
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
