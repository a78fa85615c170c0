import { z } from 'zod';

/** 0.1.0 stored the sharing group of the annotation `causeway.dev/gateway-ports` under this key. */
export const legacySharingGroupKey = 'circle';

const legacyGatewayState = z.looseObject({ refusedEndpoints: z.number() });

/** 0.1.0 stored the number of rejected frontends of a gateway under `refusedEndpoints`. */
export function fromLegacyGatewayState(stored: unknown): unknown {
  const legacy = legacyGatewayState.safeParse(stored);
  if (!legacy.success) return stored;
  const { refusedEndpoints, ...others } = legacy.data;
  return { refusedFrontends: refusedEndpoints, ...others };
}

const legacyPorts = z.looseObject({ [legacySharingGroupKey]: z.string() });

export function fromLegacyPorts(stored: unknown): unknown {
  const legacy = legacyPorts.safeParse(stored);
  if (!legacy.success) return stored;
  const { [legacySharingGroupKey]: sharingGroup, ...others } = legacy.data;
  return { sharingGroup, ...others };
}
