import { z } from 'zod';
import type { Status } from '../objects/object.ts';

/** Only the used fields; a field of a wrong type counts as missing. */
const schema = z.looseObject({
  kind: z.string().optional().catch(undefined),
  code: z.number().int().optional().catch(undefined),
  reason: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  details: z
    .looseObject({
      causes: z.array(z.looseObject({})).optional().catch(undefined),
      retryAfterSeconds: z.number().min(0).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** A Status of the API server or of a proxy. Undefined for other values. */
export function readStatus(value: unknown): Status | undefined {
  return schema.safeParse(value).data as Status | undefined;
}
