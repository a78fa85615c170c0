import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { gatewayLayerAnnotation } from '../../services/backend-layer.ts';
import { withoutOurMarks, type HandBack } from '../../services/hand-back.ts';
import { readRecord } from '../../services/record.ts';
import { legacyManagedAnnotation, legacyPortAnnotation, portsAnnotation } from './annotations.ts';

/**
 * Returns a Service to ch-k8s-lbaas. The marks of ch-k8s-lbaas stay, because it finds its port by them. Only
 * for Services with these marks.
 */
export function handBackToLbaas(service: Service): HandBack {
  const reading = readRecord(service);
  if (reading.kind !== 'record' || reading.record.provider !== 'gateway') return { kind: 'none' };
  if (service.spec?.loadBalancerClass !== undefined) {
    return {
      kind: 'keep',
      because: `its class ${service.spec.loadBalancerClass} can't be changed, and ch-k8s-lbaas does not support classes`,
    };
  }
  const { annotations = {} } = service.metadata ?? {};
  const isMarked =
    annotations[legacyManagedAnnotation] === 'true' &&
    annotations[legacyPortAnnotation] !== undefined;
  if (!isMarked) {
    return {
      kind: 'keep',
      because: 'it lacks the marks of ch-k8s-lbaas; run Causeway with gateway.keepWayBack first',
    };
  }
  return withoutOurMarks(service, [portsAnnotation, gatewayLayerAnnotation]);
}
