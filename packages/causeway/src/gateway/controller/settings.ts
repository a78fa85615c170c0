import { z } from 'zod';
import { networkSetting, parsed } from '@causeway/base/settings/parsed';
import { parseAddressRange } from '@causeway/base/address/address-range';

const addressRange = parsed(parseAddressRange);

const gatewayAgent = z.strictObject({
  name: z.string().min(1).describe("the gateway's name, as in its own settings"),
  url: z.url({ protocol: /^https?$/ }).describe('where its agent listens'),
  port: z
    .string()
    .min(1)
    .optional()
    .describe('id of its own Neutron port, whose allowed address pairs Causeway then keeps'),
  api: z
    .enum(['v2', 'v1'])
    .default('v2')
    .describe("v1 for a gateway that still runs ch-k8s-lbaas's own agent"),
  secretFile: z
    .string()
    .min(1)
    .optional()
    .describe('file with the secret of this agent, where it is another one than that of all'),
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
    .describe("whose source address is rewritten to the gateway's"),
  keepWayBack: z
    .boolean()
    .default(false)
    .describe("also write ch-k8s-lbaas's annotations, so that it can take the Services back"),
  portManager: z
    .enum(['static', 'openstack'])
    .default('static')
    .describe('where addresses come from'),
  addresses: z
    .array(addressRange)
    .default([])
    .describe('addresses, ranges and networks of the static port manager'),
  subnets: z
    .array(z.string().min(1))
    .max(2)
    .default([])
    .describe('ids of the Neutron subnets to take addresses from, one for each family'),
  floatingNetwork: z
    .string()
    .min(1)
    .optional()
    .describe('id of the network of floating IPs; none are used without it'),
  floatingSubnet: z.string().min(1).optional().describe('id of the subnet of that network'),
  addressPairs: z
    .strictObject({
      mode: z
        .enum(['network', 'single'])
        .default('network')
        .describe(
          "allow the gateways' ports whole networks with one pair each, or single addresses (Neutron takes 10 pairs on a port unless told otherwise)",
        ),
      networks: z
        .array(networkSetting)
        .default([])
        .describe('networks of the mode network; the subnets above if empty'),
      limit: z
        .number()
        .int()
        .min(1)
        .default(10)
        .describe("Neutron's max_allowed_address_pair, which it tells nobody"),
    })
    .prefault({}),
  resyncSeconds: z
    .number()
    .min(5)
    .default(30)
    .describe(
      'how soon the cloud is looked at again for lost ports where that is quick; looking takes at most a twentieth of the time, and driftSeconds is the longest pause',
    ),
  fenceAfterSeconds: z
    .number()
    .min(5)
    .default(120)
    .describe(
      'a gateway that does not answer for so long while an address waits for it is fenced, where Neutron can do that',
    ),
  restSeconds: z
    .number()
    .min(0)
    .default(60)
    .describe('an address that only a fenced gateway may still believe to have rests for so long'),
  agents: z
    .array(gatewayAgent)
    .superRefine((agents, context) => {
      const names = agents.map(({ name }) => name);
      const twice = names.find((name, index) => names.indexOf(name) < index);
      if (twice !== undefined) context.addIssue(`two of them have the name ${twice}`);
    })
    .default([])
    .describe('the gateways'),
  secretFile: z
    .string()
    .min(1)
    .optional()
    .describe("file with the agents' shared secret, base64; the first line is used"),
  agentAuthorityFile: z
    .string()
    .min(1)
    .optional()
    .describe("authority of the agents' certificates"),
});
