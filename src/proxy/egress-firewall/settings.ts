import { z } from 'zod';
import { CausewayError } from '../../domain/error.ts';
import { parsePrefix } from '../../domain/prefix.ts';

const network = z.string().transform((text, context) => {
  try {
    return parsePrefix(text);
  } catch (error) {
    context.addIssue(CausewayError.from(error).message);
    return z.NEVER;
  }
});

/** The settings of the egress firewall, `egressFirewall` in the proxy's. */
export const egressFirewallSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('hide endpoints that EgressNetworkPolicies deny'),
  clusterNetworks: z
    .array(network)
    .default([])
    .describe("pod and service networks, never judged; insiders.networks' if empty"),
  exemptNamespaces: z
    .array(z.string().min(1))
    .default([])
    .describe('namespaces whose EgressNetworkPolicies say nothing'),
});
