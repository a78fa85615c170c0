import { z } from 'zod';
import { networkSetting } from '@causeway/base/settings/parsed';

/** The settings of the egress firewall, `egressFirewall` in the proxy's settings. */
export const egressFirewallSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('hide endpoints that EgressNetworkPolicies deny'),
  clusterNetworks: z
    .array(networkSetting)
    .default([])
    .describe(
      'pod and service networks, never evaluated; insiders.networks if empty, then the podCIDRs of all nodes',
    ),
  exemptNamespaces: z
    .array(z.string().min(1))
    .default([])
    .describe('namespaces in which EgressNetworkPolicies have no effect'),
});
