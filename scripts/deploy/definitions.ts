import type { CustomResourceDefinition } from '../../packages/kubernetes/src/objects/custom-resource-definition.ts';
import { kuryrLoadBalancerDefinition } from '../../packages/causeway/src/octavia/definition.ts';
import { egressNetworkPolicyDefinition } from '../../packages/causeway/src/node-proxy/egress-firewall/egress-network-policy.ts';

/** As a manifest: the code's own definition may omit its kind. */
const manifest = ({ metadata, spec }: CustomResourceDefinition): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  ...(metadata === undefined ? {} : { metadata }),
  spec,
});

/** Every custom resource definition, with the job that needs it. */
export const definitions: Readonly<Record<'octavia' | 'proxy', CustomResourceDefinition>> = {
  octavia: manifest(kuryrLoadBalancerDefinition),
  proxy: manifest(egressNetworkPolicyDefinition),
};
