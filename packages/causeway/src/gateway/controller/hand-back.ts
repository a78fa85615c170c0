import { gatewayLayerAnnotation } from '../../services/backend-layer.ts';
import type { FrontendSpec } from '../../services/frontend-spec.ts';
import type { HandBackDecision } from '../../services/hand-back.ts';
import { recordOf } from '../../services/record.ts';
import {
  legacyManagedAnnotation,
  legacyPortAnnotation,
  portsAnnotation,
} from './ports/annotations.ts';

/**
 * Returns a Service to ch-k8s-lbaas. The marks of ch-k8s-lbaas stay, because it finds its port by them. Only
 * for Services with these marks.
 */
export function handBackToLbaas(spec: FrontendSpec): HandBackDecision {
  const reading = recordOf(spec);
  if (reading.kind !== 'record' || reading.record.provider !== 'gateway') return { kind: 'none' };
  const { className, annotations } = spec;
  if (className !== undefined) {
    return {
      kind: 'keep',
      because: `its class ${className} can't be changed, and ch-k8s-lbaas does not support classes`,
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
  return { kind: 'hand-back', annotations: [portsAnnotation, gatewayLayerAnnotation] };
}
