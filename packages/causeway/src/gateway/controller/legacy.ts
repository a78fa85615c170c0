import { z } from 'zod';

/** 0.1.0 stored the sharing group of the annotation `causeway.dev/gateway-ports` under this key. */
export const legacySharingGroupKey = 'circle';

const legacyPorts = z.looseObject({ [legacySharingGroupKey]: z.string() });

export function fromLegacyPorts(stored: unknown): unknown {
  const legacy = legacyPorts.safeParse(stored);
  if (!legacy.success) return stored;
  const { [legacySharingGroupKey]: sharingGroup, ...others } = legacy.data;
  return { sharingGroup, ...others };
}
