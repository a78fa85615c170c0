import { z } from 'zod';
import { parseAddressRange } from '@causeway/base/address/address-range';
import { networkSetting, parsed } from '@causeway/base/settings/parsed';
import { parseStaticAddresses } from './ports/static-addresses.ts';

const addressRange = parsed(parseAddressRange);
const staticAddresses = parsed(parseStaticAddresses);

const gatewayAgent = z.strictObject({
  name: z.string().min(1).describe("the gateway's name, as in its own settings"),
  url: z.url({ protocol: /^https?$/ }).describe('address on which its agent listens'),
  port: z
    .string()
    .min(1)
    .optional()
    .describe(
      'ID of its own Neutron port, on which Causeway then manages the allowed address pairs',
    ),
  api: z
    .enum(['v2', 'v1'])
    .default('v2')
    .describe('v1 for a gateway that still runs the agent of ch-k8s-lbaas'),
  secretFile: z
    .string()
    .min(1)
    .optional()
    .describe('file with the secret of this agent, if it differs from the common secret'),
});

/** The settings of the gateway provider, `gateway` in the controller's. */
export const gatewaySettings = z.strictObject({
  enabled: z.boolean().default(false).describe('serve Services on gateway nodes'),
  layer: z
    .enum(['NodePort', 'ClusterIP', 'Pod'])
    .default('NodePort')
    .describe('what gateways send connections to'),
  masquerade: z
    .enum(['needed', 'always'])
    .default('needed')
    .describe('which connections get the source address of the gateway'),
  keepWayBack: z
    .boolean()
    .default(false)
    .describe('also write the annotations of ch-k8s-lbaas, so that it can take the Services back'),
  portManager: z.enum(['static', 'openstack']).default('static').describe('source of addresses'),
  addresses: z
    .array(staticAddresses)
    .default([])
    .describe(
      'addresses, ranges and networks of the static port manager; Services get the first and last address of an IPv4 network, and the first of an IPv6 network, on request only',
    ),
  retiringAddresses: z
    .array(addressRange)
    .default([])
    .describe(
      'addresses, ranges and networks that their present Services keep and no other Service gets; they take precedence over `addresses`',
    ),
  subnets: z
    .array(z.string().min(1))
    .max(2)
    .default([])
    .describe('IDs of the Neutron subnets for addresses, one for each family'),
  floatingNetwork: z
    .string()
    .min(1)
    .optional()
    .describe('ID of the network for floating IPs; without it, none are used'),
  floatingSubnet: z.string().min(1).optional().describe('ID of the subnet of that network'),
  addressPairs: z
    .strictObject({
      mode: z
        .enum(['network', 'single'])
        .default('network')
        .describe(
          "allow the gateways' ports whole networks with one pair each, or single addresses (Neutron accepts 10 pairs on a port by default)",
        ),
      networks: z
        .array(networkSetting)
        .default([])
        .describe('networks of the mode network; by default the subnets above'),
      limit: z
        .number()
        .int()
        .min(1)
        .default(10)
        .describe("Neutron's max_allowed_address_pair, which its API does not show"),
    })
    .prefault({}),
  resyncSeconds: z
    .number()
    .min(5)
    .default(30)
    .describe(
      'shortest interval between checks for lost ports, used if a check is quick; checks take at most a twentieth of the time, and driftSeconds is the longest interval',
    ),
  fenceAfterSeconds: z
    .number()
    .min(5)
    .default(120)
    .describe(
      'a gateway that does not answer for this long while an address waits for it is fenced, if Neutron supports it',
    ),
  restSeconds: z
    .number()
    .min(0)
    .default(60)
    .describe('how long an address is not reused if only a fenced gateway may still use it'),
  agents: z
    .array(gatewayAgent)
    .superRefine((agents, context) => {
      const names = agents.map(({ name }) => name);
      const twice = names.find((name, index) => names.indexOf(name) < index);
      if (twice !== undefined) context.addIssue(`two gateways have the name ${twice}`);
    })
    .default([])
    .describe('the gateways'),
  secretFile: z
    .string()
    .min(1)
    .optional()
    .describe("file with the agents' shared secret, base64; only the first line is read"),
  agentAuthorityFile: z.string().min(1).optional().describe('certificate authority of the agents'),
});
