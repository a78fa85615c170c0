import type { CustomResourceDefinition } from '@causeway/kubernetes/objects/custom-resource-definition';
import { resourceOf } from '@causeway/kubernetes/objects/custom-resources';
import type { KubeObject } from '@causeway/kubernetes/objects/object';

/** OpenShift's resource: destinations outside the cluster that the pods of a namespace may reach. */
export interface EgressNetworkPolicy extends KubeObject {
  readonly spec?: {
    readonly egress?: readonly {
      readonly type?: string;
      readonly to?: { readonly cidrSelector?: string; readonly dnsName?: string };
    }[];
  };
}

const rule = {
  type: 'object',
  description: 'The first rule that matches an address decides. Without a match it is allowed.',
  required: ['type', 'to'],
  properties: {
    type: { type: 'string', enum: ['Allow', 'Deny'], description: 'Effect of the rule.' },
    to: {
      type: 'object',
      description: 'Destination of the rule: exactly one of the two.',
      properties: {
        cidrSelector: {
          type: 'string',
          description: 'A network such as 192.0.2.0/24 or 2001:db8::/32.',
          maxLength: 49,
          pattern:
            '^(([0-9]{1,3}\\.){3}[0-9]{1,3}/([0-9]|[12][0-9]|3[0-2])|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))$',
        },
        dnsName: {
          type: 'string',
          description: 'A DNS name; the rule uses its current addresses.',
          maxLength: 253,
          pattern:
            '^([A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?\\.)*[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?\\.?$',
        },
      },
      'x-kubernetes-validations': [
        {
          rule: 'has(self.cidrSelector) != has(self.dnsName)',
          message: 'name exactly one of cidrSelector and dnsName',
        },
      ],
    },
  },
} as const;

export const egressNetworkPolicyDefinition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'egressnetworkpolicies.network.openshift.io' },
  spec: {
    group: 'network.openshift.io',
    scope: 'Namespaced',
    names: {
      plural: 'egressnetworkpolicies',
      singular: 'egressnetworkpolicy',
      kind: 'EgressNetworkPolicy',
      listKind: 'EgressNetworkPolicyList',
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['egress'],
                properties: { egress: { type: 'array', maxItems: 1000, items: rule } },
              },
            },
          },
        },
      },
    ],
  },
};

export const egressNetworkPolicies = resourceOf<EgressNetworkPolicy>(egressNetworkPolicyDefinition);
