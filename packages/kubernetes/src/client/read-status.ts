import { z } from 'zod';
import type { Status } from '../objects/object.ts';

/** As far as anybody goes by it; a field of another type than it should have counts as left out. */
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

/** A Status as the API server sends it, or whatever stands between it and us. Undefined for what is none. */
export function readStatus(value: unknown): Status | undefined {
  return schema.safeParse(value).data as Status | undefined;
}
