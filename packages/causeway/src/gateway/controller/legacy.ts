import { z } from 'zod';

const legacyPorts = z.looseObject({ circle: z.string() });

/** 0.1.0 stored the sharing group of the annotation `causeway.dev/gateway-ports` under `circle`. */
export function fromLegacyPorts(stored: unknown): unknown {
  const legacy = legacyPorts.safeParse(stored);
  if (!legacy.success) return stored;
  const { circle, ...others } = legacy.data;
  return { sharingGroup: circle, ...others };
}
