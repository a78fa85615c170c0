import { z } from 'zod';
import { textLimits } from '@causeway/base/text/text-limit';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { FrontendSpec } from './frontend-spec.ts';
import type { Ingress } from './provider.ts';

/** The annotation that records which parts of a Service belong to Causeway. */
export const recordAnnotation = 'causeway.dev/load-balancer';

/** The record of a Service that Causeway serves. */
export interface ServiceRecord {
  /**
   * The UID of the Service that the record was written for. A copy of the annotation on another Service is
   * ignored.
   */
  readonly uid: string;
  readonly provider: string;
  /** The addresses that Causeway writes to the status. They are recorded before they are written. */
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
  /**
   * Edited by a user, or written by a newer version. The controller leaves the Service alone until the record
   * is readable.
   */
  | { readonly kind: 'unreadable'; readonly problem: string };

export function readRecord({ metadata }: Service): RecordReading {
  return parseRecord(metadata?.annotations?.[recordAnnotation], metadata?.uid);
}

/** The record of the owner of a frontend. */
export function recordOf({ owner, annotations }: FrontendSpec): RecordReading {
  return parseRecord(annotations[recordAnnotation], owner.uid);
}

function parseRecord(text: string | undefined, ownUid: string | undefined): RecordReading {
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
      problem: `${issue?.message ?? 'it has an unknown format'}${where}`,
    };
  }
  const { uid, provider, ingress } = parsed.data;
  if (uid !== ownUid) return { kind: 'none' };
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
