import type { CustomResourceDefinition } from '@causeway/kubernetes/objects/custom-resource-definition';
import type { Schema } from '@causeway/kubernetes/objects/schema';

const text: Schema = { type: 'string' };
const whole: Schema = { type: 'integer' };
const flag: Schema = { type: 'boolean' };
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const object = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
});
const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const endpointSlice = object({
  endpoints: listOf(
    object({
      addresses: listOf(text),
      conditions: object({ ready: flag }),
      hostname: text,
      targetRef: object({
        kind: text,
        name: text,
        namespace: text,
        resourceVersion: text,
        uid: text,
      }),
      topology: anything,
    }),
  ),
  ports: listOf(object({ name: text, port: whole, protocol: text })),
});

const options = object({
  member_mode: { type: 'string', enum: ['Pod', 'NodePort'] },
  member_subnet_id: text,
  node_selector: text,
  additional_vips: listOf(object({ subnet_id: text, ip: text }, ['subnet_id'])),
  network_id: text,
  vip_port_id: text,
  loadbalancer_id: text,
  internal: flag,
  hostname: text,
  floating_network_id: text,
  floating_subnet_id: text,
  floating_subnet: text,
  floating_subnet_tags: text,
  keep_floating_ip: flag,
  algorithm: text,
  allowed_cidrs: listOf(text),
  connection_limit: whole,
  proxy_protocol: { type: 'string', enum: ['PROXY', 'PROXYV2'] },
  x_forwarded_for: flag,
  tls_container_ref: text,
  timeout_member_connect: whole,
  timeout_tcp_inspect: whole,
  flavor_id: text,
  availability_zone: text,
  session_affinity: flag,
  health_monitor: object({
    delay: whole,
    timeout: whole,
    max_retries: whole,
    max_retries_down: whole,
    node_port: whole,
  }),
});

const spec = object({
  endpointSlices: listOf(endpointSlice),
  ip: text,
  lb_ip: text,
  ports: listOf(
    object({ name: text, port: whole, protocol: text, targetPort: text, nodePort: whole }, [
      'port',
      'protocol',
      'targetPort',
    ]),
  ),
  project_id: text,
  security_groups_ids: listOf(text),
  subnet_id: text,
  type: text,
  provider: text,
  timeout_client_data: whole,
  timeout_member_data: whole,
  options,
});

const status = object({
  version: whole,
  loadbalancer: object(
    {
      id: text,
      ip: text,
      name: text,
      port_id: text,
      project_id: text,
      provider: text,
      security_groups: listOf(text),
      subnet_id: text,
      given: flag,
    },
    ['id'],
  ),
  listeners: listOf(
    object(
      {
        id: text,
        loadbalancer_id: text,
        name: text,
        port: whole,
        project_id: text,
        protocol: text,
        timeout_client_data: whole,
        timeout_member_connect: whole,
        timeout_member_data: whole,
        timeout_tcp_inspect: whole,
      },
      ['id'],
    ),
  ),
  pools: listOf(
    object(
      {
        id: text,
        listener_id: text,
        loadbalancer_id: text,
        name: text,
        project_id: text,
        protocol: text,
      },
      ['id'],
    ),
  ),
  members: listOf(
    object(
      {
        id: text,
        ip: text,
        name: text,
        pool_id: text,
        port: whole,
        project_id: text,
        subnet_id: text,
      },
      ['id'],
    ),
  ),
  members_left_out: whole,
  service_pub_ip_info: object({ ip_id: text, ip_addr: text, alloc_method: text }, [
    'ip_id',
    'ip_addr',
    'alloc_method',
  ]),
  conditions: listOf(
    object(
      {
        type: text,
        status: text,
        reason: text,
        message: text,
        observedGeneration: whole,
        lastTransitionTime: { type: 'string', format: 'date-time' },
      },
      ['type', 'status'],
    ),
  ),
});

/** Kuryr's definition, with a status subresource, conditions and columns. Every object of Kuryr is valid. */
export const kuryrLoadBalancerDefinition: CustomResourceDefinition = {
  metadata: { name: 'kuryrloadbalancers.openstack.org' },
  spec: {
    group: 'openstack.org',
    scope: 'Namespaced',
    names: {
      plural: 'kuryrloadbalancers',
      singular: 'kuryrloadbalancer',
      kind: 'KuryrLoadBalancer',
      listKind: 'KuryrLoadBalancerList',
      shortNames: ['klb'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Type', type: 'string', jsonPath: '.spec.type' },
          { name: 'VIP', type: 'string', jsonPath: '.status.loadbalancer.ip' },
          { name: 'Public-IP', type: 'string', jsonPath: '.status.service_pub_ip_info.ip_addr' },
          {
            name: 'Ready',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="Ready")].status',
          },
          {
            name: 'Load-Balancer',
            type: 'string',
            jsonPath: '.status.loadbalancer.id',
            priority: 1,
          },
          { name: 'Project-ID', type: 'string', jsonPath: '.spec.project_id', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: { openAPIV3Schema: object({ spec, status }) },
      },
    ],
  },
};
