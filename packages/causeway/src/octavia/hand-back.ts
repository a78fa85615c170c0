import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { withoutOurMarks, type HandBack } from '../services/hand-back.ts';
import { readRecord } from '../services/record.ts';

/** Gives a Service back to Kuryr, whose finalizer and KuryrLoadBalancer stay: it knows both as its own. */
export function handBackToKuryr(service: Service): HandBack {
  const reading = readRecord(service);
  if (reading.kind !== 'record' || reading.record.provider !== 'octavia') return { kind: 'none' };
  return withoutOurMarks(service);
}
