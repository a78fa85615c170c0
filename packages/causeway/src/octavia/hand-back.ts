import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { withoutOurMarks, type HandBack } from '../services/hand-back.ts';
import { readRecord } from '../services/record.ts';

/**
 * Hands a Service back to Kuryr. Kuryr's finalizer and the KuryrLoadBalancer stay, because Kuryr uses both.
 */
export function handBackToKuryr(service: Service): HandBack {
  const reading = readRecord(service);
  if (reading.kind !== 'record' || reading.record.provider !== 'octavia') return { kind: 'none' };
  return withoutOurMarks(service);
}
