import { z } from 'zod';
import { parseAddressRange } from '../../domain/address-range.ts';
import { CausewayError } from '../../domain/error.ts';

const addressRange = z.string().transform((text, context) => {
  try {
    return parseAddressRange(text);
  } catch (error) {
    context.addIssue(CausewayError.from(error).message);
    return z.NEVER;
  }
});

const gatewayAgent = z.strictObject({
  name: z.string().min(1).describe("the gateway's name, as in its own settings"),
  url: z.url({ protocol: /^https?$/ }).describe('where its agent listens'),
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
    .describe('id of the network that floating IPs come from; none are used without it'),
  floatingSubnet: z.string().min(1).optional().describe('id of the subnet of that network'),
  agents: z.array(gatewayAgent).default([]).describe('the gateways'),
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
