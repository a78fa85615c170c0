import { z } from 'zod';

const id = z.string().min(1);

/** The settings of the provider `octavia`, as a part of the controller's. */
export const octaviaSettings = z.strictObject({
  enabled: z.boolean().default(false).describe('serve Services with Octavia'),
  clusterIP: z
    .enum(['annotated', 'all'])
    .default('annotated')
    .describe('which Services of type ClusterIP get a load balancer'),
  vip: z
    .enum(['Subnet', 'ClusterIP'])
    .default('Subnet')
    .describe("where VIPs come from: any address of the subnet, or the Service's cluster IP"),
  subnets: z
    .array(id)
    .max(2)
    .default([])
    .describe('ids of the Neutron subnets of the VIPs, one for each family'),
  members: z
    .enum(['Pod', 'NodePort'])
    .default('NodePort')
    .describe('destination of the connections of load balancers'),
  memberSubnet: id
    .optional()
    .describe('id of the subnet of the members; they are reached by routing without it'),
  floatingNetwork: id
    .optional()
    .describe('id of the network of floating IPs; none are used without it'),
  floatingSubnet: id.optional().describe('id of the subnet of that network'),
  project: id
    .optional()
    .describe("id of the project that owns the load balancers; otherwise the cloud's"),
  projects: z
    .array(id)
    .default([])
    .describe('ids of projects that Services may choose instead, with an annotation'),
  securityGroups: z
    .array(id)
    .default([])
    .describe('ids of security groups for the VIPs, where Octavia can set them'),
  podSecurityGroup: id
    .optional()
    .describe(
      'id of the security group of the pods or nodes, which is opened for the load balancers',
    ),
  provider: id
    .optional()
    .describe("Octavia's provider, such as amphora or ovn; otherwise its default"),
  classes: z
    .record(
      z.string().min(1),
      z.strictObject({
        floatingNetwork: id.optional().describe('instead of the one above'),
        floatingSubnet: id.optional().describe('instead of the one above'),
        network: id.optional().describe('id of the network of the VIP'),
        subnet: id.optional().describe('id of the subnet of the VIP'),
        memberSubnet: id.optional().describe('instead of the one above'),
      }),
    )
    .default({})
    .describe("OCCM's classes: what Services choose with the annotation class, by name"),
  algorithm: z
    .enum(['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP', 'SOURCE_IP_PORT'])
    .optional()
    .describe(
      'how connections are spread; otherwise ROUND_ROBIN, or the algorithm of the provider',
    ),
  flavor: id.optional().describe('id of the flavor of new load balancers'),
  availabilityZone: id.optional().describe('availability zone of new load balancers'),
  healthMonitor: z
    .strictObject({
      enabled: z.boolean().default(false).describe('check members'),
      delay: z.number().int().min(1).default(5).describe('seconds between two checks'),
      timeout: z.number().int().min(1).default(3).describe('seconds until the timeout of a check'),
      maxRetries: z
        .number()
        .int()
        .min(1)
        .max(10)
        .default(1)
        .describe('successful checks until a member is up again'),
      maxRetriesDown: z
        .number()
        .int()
        .min(1)
        .max(10)
        .default(3)
        .describe('failed checks until a member is down'),
    })
    .prefault({}),
  memberSample: z
    .number()
    .int()
    .min(0)
    .default(50)
    .describe('number of pools for which a drift check reads the members, in rotation'),
});

export type OctaviaSettings = z.output<typeof octaviaSettings>;
