import { z } from 'zod';
import { addressSetting } from '../../address-setting.ts';

const routerId = z.number().int().min(1).max(255);

/** The settings of `addresses` that concern keepalived. */
export const keepalivedFields = {
  start: z
    .enum(['spawn', 'external'])
    .default('external')
    .describe('starter of keepalived; spawn: the agent; external: its own unit'),
  priority: z
    .number()
    .int()
    .min(1)
    .max(254)
    .default(200)
    .describe('VRRP priority; a backup with a higher priority takes over sooner'),
  advertMs: z.number().int().min(10).max(40_000).default(100).describe('VRRP advert interval'),
  announceAgainSeconds: z
    .number()
    .int()
    .min(1)
    .max(60)
    .default(1)
    .describe(
      'seconds until addresses are announced again after a failover; later, ten times this interval',
    ),
};

/** The settings of a network that concern keepalived. */
export const keepalivedNetworkFields = {
  virtualRouterId: routerId.describe('VRRP router id, the same on all gateways of the set'),
  anchor4: addressSetting(4)
    .optional()
    .describe('IPv4 address that adverts name; never a served one'),
  anchor6: addressSetting(6)
    .optional()
    .describe('IPv6 address that adverts name; never a served one'),
};
