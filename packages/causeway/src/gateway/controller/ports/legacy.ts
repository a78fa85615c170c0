import { z } from 'zod';
import type { Role } from '../../protocol/role.ts';

/** 0.1.0 stored the sharing group of the annotation `causeway.dev/gateway-ports` under this key. */
export const legacySharingGroupKey = 'circle';

const legacyPorts = z.looseObject({ [legacySharingGroupKey]: z.string() });

export function fromLegacyPorts(stored: unknown): unknown {
  const legacy = legacyPorts.safeParse(stored);
  if (!legacy.success) return stored;
  const { [legacySharingGroupKey]: sharingGroup, ...others } = legacy.data;
  return { sharingGroup, ...others };
}

const legacyGatewayState = z.looseObject({
  refusedEndpoints: z.number().optional(),
  master: z.boolean().optional(),
  vrrp: z.string().optional(),
});
const legacyRoles: ReadonlyMap<string | undefined, Role> = new Map([
  ['MASTER', 'active'],
  ['BACKUP', 'standby'],
  ['FAULT', 'unable'],
  ['STOP', 'unable'],
  ['foreign', 'foreign'],
  ['unknown', 'unknown'],
]);

/**
 * 0.1.0 stored the role of a gateway in the ConfigMap `causeway-gateways` as a state of VRRP, and the number of
 * rejected frontends under `refusedEndpoints`.
 */
export function fromLegacyGatewayState(stored: unknown): unknown {
  const legacy = legacyGatewayState.safeParse(stored);
  if (!legacy.success) return stored;
  const { master, vrrp, refusedEndpoints, ...others } = legacy.data;
  const role = legacyRoles.get(vrrp) ?? (master === true ? 'active' : undefined);
  return {
    ...(role === undefined ? {} : { role }),
    ...(refusedEndpoints === undefined ? {} : { refusedFrontends: refusedEndpoints }),
    ...others,
  };
}
