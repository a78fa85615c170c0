import { z } from 'zod';
import { addressSetting } from '../address-setting.ts';
import { keepalivedFields, keepalivedNetworkFields } from './keepalived/settings.ts';

const linkName = z.string().regex(/^[\w.-]{1,15}$/, 'is not the name of a network interface');

/** The settings of the announcer, `addresses`. */
export const announcerSettings = z
  .strictObject({
    mover: z
      .enum(['keepalived', 'foreign', 'simulated'])
      .default('keepalived')
      .describe(
        'system that moves the addresses; foreign: another system; simulated: none, for tests, where the agents of one machine elect the active one',
      ),
    simulatedWith: z
      .string()
      .min(1)
      .default('causeway')
      .describe(
        'name of the group of agents that elect the active one, with addresses.mover simulated',
      ),
    groups: z
      .enum(['one', 'several'])
      .default('one')
      .describe(
        'number of gateway sets that are active for the same nodes; several need every source rewritten',
      ),
    ...keepalivedFields,
  })
  .prefault({});

/** The settings of a network that the announcer uses, `external` and `internal`. */
export const networkSettings = (what: string) =>
  z.strictObject({
    interface: linkName.describe(`interface in the ${what} network`),
    address4: addressSetting(4).optional().describe("this gateway's own IPv4 address there"),
    peers4: z
      .array(addressSetting(4))
      .default([])
      .describe("the other gateways' own IPv4 addresses"),
    address6: addressSetting(6).optional().describe("this gateway's own IPv6 address there"),
    peers6: z
      .array(addressSetting(6))
      .default([])
      .describe("the other gateways' own IPv6 addresses"),
    routes: z
      .array(addressSetting())
      .default([])
      .describe("addresses that move with the gateway, such as the nodes' default route"),
    ...keepalivedNetworkFields,
  });
