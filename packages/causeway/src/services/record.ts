import { z } from 'zod';
import { textLimits } from '@causeway/base/text/text-limit';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Ingress } from './provider.ts';

/** The annotation in which we record what is ours on a Service, so that it can be told from what is not. */
export const recordAnnotation = 'causeway.dev/load-balancer';

/** What we know of a Service that we have taken over. */
export interface ServiceRecord {
  /** The Service it was written for: a copy of the annotation on another Service means nothing. */
  readonly uid: string;
  readonly provider: string;
  /** The addresses that we have put into its status, written down before they are put there. */
  readonly ingress: readonly Ingress[];
}

const recordVersion = 1;

const recordSchema = z.object({
  version: z.literal(recordVersion),
  uid: z.string().min(1),
  provider: z.string().min(1),
  ingress: z.array(
    z.union([
      z.object({ ip: z.string(), ipMode: z.enum(['VIP', 'Proxy']) }),
      z.object({ hostname: z.string() }),
    ]),
  ),
});

export type RecordReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'record'; readonly record: ServiceRecord }
  /** Someone edited it, or a newer version wrote it: nothing is done to the Service until it can be read. */
  | { readonly kind: 'unreadable'; readonly problem: string };

export function readRecord(service: Service): RecordReading {
  const text = service.metadata?.annotations?.[recordAnnotation];
  if (text === undefined) return { kind: 'none' };
  if (text.length > textLimits.record)
    return { kind: 'unreadable', problem: 'the text is too long' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'unreadable', problem: 'the text is not JSON' };
  }
  const parsed = recordSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where =
      issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
    return {
      kind: 'unreadable',
      problem: `${issue?.message ?? 'the text has an unknown form'}${where}`,
    };
  }
  const { uid, provider, ingress } = parsed.data;
  if (uid !== service.metadata?.uid) return { kind: 'none' };
  return { kind: 'record', record: { uid, provider, ingress } };
}

export function formatRecord(record: ServiceRecord): string {
  const { uid, provider, ingress } = record;
  return JSON.stringify({
    version: recordVersion,
    uid,
    provider,
    ingress,
  });
}
