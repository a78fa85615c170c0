import type { FrontendSpec } from '../services/frontend-spec.ts';
import type { HandBackDecision } from '../services/hand-back.ts';
import { recordOf } from '../services/record.ts';

/**
 * Hands a Service back to Kuryr. Kuryr's finalizer and the KuryrLoadBalancer stay, because Kuryr uses both.
 */
export function handBackToKuryr(frontend: FrontendSpec): HandBackDecision {
  const reading = recordOf(frontend);
  if (reading.kind !== 'record' || reading.record.provider !== 'octavia') return { kind: 'none' };
  return { kind: 'hand-back', annotations: [] };
}
