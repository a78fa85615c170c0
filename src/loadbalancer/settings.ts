import { z } from 'zod';
import { parseAddressRange } from '../domain/address-range.ts';
import { CausewayError } from '../domain/error.ts';

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

const gateway = z.strictObject({
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

/** The settings of `causeway controller`. */
export const controllerSettings = z.strictObject({
  clusterId: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'is not a name of lower-case letters, digits and hyphens')
    .default('kubernetes')
    .describe('tells the clusters of one cloud project from each other'),
  defaultProvider: z
    .enum(['gateway'])
    .optional()
    .describe('who serves Services without a loadBalancerClass; nobody if not set'),
  workers: z.number().int().min(1).max(256).default(16).describe('Services worked on side by side'),
  kubeconfig: z
    .string()
    .min(1)
    .optional()
    .describe('kubeconfig; else KUBECONFIG, the pod, or ~/.kube/config'),
  context: z.string().min(1).optional().describe('context of the kubeconfig'),
  cloud: z
    .string()
    .min(1)
    .optional()
    .describe('entry of clouds.yaml; else OS_CLOUD or the OS_ variables'),
  driftSeconds: z
    .number()
    .min(10)
    .default(300)
    .describe('how often the cloud is looked at for drift'),
  leaderElection: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe('only one controller of a cluster works at a time'),
      namespace: z.string().min(1).default('kube-system').describe('namespace of the lease'),
      name: z.string().min(1).default('causeway-controller').describe('name of the lease'),
    })
    .prefault({}),
  observe: z
    .strictObject({
      address: z.string().min(1).default('127.0.0.1').describe('where health and metrics listen'),
      port: z
        .number()
        .int()
        .min(0)
        .max(65535)
        .default(15203)
        .describe('port of health and metrics'),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('what to log'),
      format: z.enum(['json', 'text']).default('json').describe('how to log'),
    })
    .prefault({}),
  gateway: gateway.prefault({}),
});

export type ControllerSettings = z.output<typeof controllerSettings>;
