import { Command } from 'commander';
import { stringify } from 'yaml';
import { egressNetworkPolicyDefinition } from '../../node-proxy/egress-firewall/egress-network-policy.ts';

/** `causeway proxy crds`: prints the custom resource definitions that the proxy reads. */
export function proxyDefinitionsCommand(): Command {
  return new Command('crds')
    .description(
      'print the custom resource definitions that the proxy reads, for kubectl apply -f -',
    )
    .action(() => {
      process.stdout.write(stringify(egressNetworkPolicyDefinition));
    });
}
