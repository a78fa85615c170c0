import { z } from 'zod';

const legacyOwner = z.looseObject({ fence: z.number() });

/** 0.1.0 stored the fencing token of an owner under `fence`. The next change of the address rewrites it. */
export function fromLegacyOwner(stored: unknown): unknown {
  const legacy = legacyOwner.safeParse(stored);
  if (!legacy.success) return stored;
  const { fence, ...others } = legacy.data;
  return { fencingToken: fence, ...others };
}
