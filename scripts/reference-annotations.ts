/** A label or an annotation, for the reference. */
export interface Mark {
  /** The object that carries it. */
  readonly on: string;
  readonly by: 'users' | 'Causeway' | 'both';
  readonly meaning: string;
}

const user = (on: string, meaning: string): Mark => ({ on, by: 'users', meaning });
const ours = (on: string, meaning: string): Mark => ({ on, by: 'Causeway', meaning });
const both = (on: string, meaning: string): Mark => ({ on, by: 'both', meaning });
const service = 'Service';

/** Classes, conditions and finalizers have names of the same form, and are no labels. */
export const otherNames: ReadonlySet<string> = new Set([
  ...['causeway.dev/gateway', 'causeway.dev/pool', 'causeway.dev/LoadBalancerReady'],
  ...['causeway.dev/gateway-cleanup', 'causeway.dev/octavia-cleanup', 'causeway.dev/pool-cleanup'],
  'causeway.dev/managed',
]);

/**
 * Every label and annotation that Causeway reads or writes. `npm run docs` compares it with the sources, in
 * both directions.
 */
export const marks: Readonly<Record<string, Mark>> = {
  'causeway.dev/address': user(service, 'the requested address; two with a comma for two families'),
  'causeway.dev/sharing-key': user(
    service,
    'Services with the same key may share an address (gateway, pool)',
  ),
  'causeway.dev/keep-floating-ip': user(
    service,
    '`true`: the floating IP is kept after the Service is deleted (gateway, octavia)',
  ),
  'causeway.dev/release-address': user(
    service,
    '`true`: the Service moves away from an address that is retiring or in no list (gateway)',
  ),
  'causeway.dev/octavia': user(
    service,
    '`true` gives a ClusterIP Service a load balancer, `false` prevents one; also the class of octavia',
  ),
  'causeway.dev/announcer': user(service, 'announcer of its address (pool)'),
  'causeway.dev/project': user(
    service,
    'ID of the project that owns its load balancer, one of `octavia.projects` (octavia)',
  ),
  'causeway.dev/security-groups': user(
    service,
    'IDs of security groups for its VIP, in addition to those of the settings, with commas (octavia)',
  ),
  'causeway.dev/address-pool': user(service, 'the pool of its address (pool)'),
  'causeway.dev/address-pool-labels': user(
    service,
    'labels (`tier=gold,zone=b`) that the pool of its address must have (pool)',
  ),
  'causeway.dev/node': user(service, 'the node that gives it its address (pool)'),
  'causeway.dev/weight': user(
    'Pod',
    'its share of new connections, 0 to 256; 0: it is draining (gateway with the layer `Pod`)',
  ),
  'causeway.dev/idle-after': user(service, 'it is idled after this time without a connection'),
  'causeway.dev/hold': user(service, '`accept`: connections are accepted and held while it wakes'),
  'causeway.dev/load-balancer': ours(service, 'the provider that serves it, and its reservation'),
  'causeway.dev/gateway-ports': ours(service, 'the Neutron ports that it is served on (gateway)'),
  'causeway.dev/gateway-layer': ours(
    service,
    '`Pod`: its gateways send directly to its pods (gateway)',
  ),
  'causeway.dev/pool-holding': ours(
    service,
    'its reservation in the shared ledger, and its announcer (pool)',
  ),
  'causeway.dev/previous-min-replicas': ours(
    'HorizontalPodAutoscaler',
    'its minimum number of replicas before the Service was idled',
  ),
  'causeway.dev/withdraws-after': ours(
    'Lease',
    'time after which an unreachable announcer counts as having withdrawn (pool)',
  ),
  'causeway.dev/activity': ours(
    'ConfigMap',
    'a node’s report of the Services with activity (idling)',
  ),
  'causeway.dev/backend': ours('discovered object', 'label: the cloud of its load balancer'),
  'causeway.dev/project-id': ours('discovered object', 'label: the project'),
  'causeway.dev/load-balancer-id': ours('discovered object', 'label: the load balancer'),
  'causeway.dev/discovered-as': ours('discovered object', 'its source, to detect changes'),
  'causeway.dev/discovered-from': ours(
    'discovered object',
    'the project and the load balancer of its source',
  ),
  'causeway.dev/project-name': ours('discovered object', "the project's name"),
  'causeway.dev/load-balancer-name': ours('discovered object', "the load balancer's name"),
  'causeway.dev/load-balancer-address': ours(
    'discovered object',
    "the load balancer's own address",
  ),
  'causeway.dev/listeners': ours('discovered object', 'the listeners behind its ports'),
  'causeway.dev/l7-pools': ours('discovered object', 'pools that are only used by L7 rules'),
  'causeway.dev/weights': ours('discovered object', "the members' weights"),
  'causeway.dev/content': ours('discovered object', 'a hash of the written addresses'),
  'idling.alpha.openshift.io/idled-at': both(service, 'since when it is idle'),
  'idling.alpha.openshift.io/unidle-targets': both(
    service,
    'workloads that are scaled up when it wakes',
  ),
  'idling.alpha.openshift.io/previous-scale': both('workload', 'previous number of replicas'),
  'cah-loadbalancer.k8s.cloudandheat.com/managed': both(
    service,
    "ch-k8s-lbaas's: `false` excludes the Service from Causeway",
  ),
  'cah-loadbalancer.k8s.cloudandheat.com/inbound-port': both(
    service,
    "ch-k8s-lbaas's: the Neutron port that it is served on",
  ),
  'openstack.org/kuryr-timeout-client-data': user(
    service,
    "Kuryr's: the listener's timeout towards clients, in ms",
  ),
  'openstack.org/kuryr-timeout-member-data': user(
    service,
    "Kuryr's: the listener's timeout towards members, in ms",
  ),
  'openstack.org/kuryr-lbaas-spec': both(service, "Kuryr's state of old releases; adopted once"),
  'openstack.org/kuryr-lbaas-state': both(service, "Kuryr's state of old releases; adopted once"),
  'metallb.io/loadBalancerIPs': both(
    service,
    "MetalLB's: the requested addresses, with commas (gateway, pool); the pool writes it for MetalLB",
  ),
  'metallb.universe.tf/loadBalancerIPs': user(
    service,
    "MetalLB's older name of `metallb.io/loadBalancerIPs` (gateway)",
  ),
  'metallb.io/allow-shared-ip': both(
    service,
    "MetalLB's: the sharing key (gateway); the pool writes it for MetalLB",
  ),
  'metallb.universe.tf/allow-shared-ip': user(
    service,
    "MetalLB's older name of `metallb.io/allow-shared-ip` (gateway)",
  ),
  'service.beta.kubernetes.io/openstack-internal-load-balancer': user(
    service,
    "OCCM's: `true` for a load balancer without a floating IP",
  ),
};

const occm = (meaning: string): Mark => user(service, meaning);

/**
 * OCCM's annotations, which octavia reads with the prefix `loadbalancer.openstack.org/`. Also compared with
 * the sources.
 */
export const occmMarks: Readonly<Record<string, Mark>> = {
  'availability-zone': occm("Octavia's availability zone"),
  class: occm('one of `octavia.classes`, which selects networks and subnets'),
  'connection-limit': occm('maximum number of connections of a listener; -1 for no limit'),
  'default-tls-container-ref': occm(
    "Barbican's container with the certificate; listeners terminate TLS",
  ),
  'enable-health-monitor': occm('`true` for a health monitor'),
  'flavor-id': occm("Octavia's flavor"),
  'floating-network-id': occm('network of the floating IP'),
  'floating-subnet': occm('name of its subnet, or `~` and a regular expression'),
  'floating-subnet-id': occm('ID of its subnet'),
  'floating-subnet-tags': occm('tags of its subnet'),
  'health-monitor-delay': occm('seconds between checks'),
  'health-monitor-max-retries': occm('successful checks until a member is up'),
  'health-monitor-max-retries-down': occm('failed checks until a member is down'),
  'health-monitor-timeout': occm('timeout of a check in seconds'),
  hostname: occm('host name in the status instead of the address'),
  'keep-floatingip': occm('`true`: the floating IP is kept after the Service is deleted'),
  'lb-method': occm('load balancing algorithm'),
  'load-balancer-address': occm('the requested address'),
  'load-balancer-id': occm('an existing or shared load balancer'),
  'member-subnet-id': occm('subnet of the members'),
  'network-id': occm('network of the virtual address'),
  'node-selector': occm('nodes that are members, by labels'),
  'port-id': occm('an existing Neutron port for the virtual address'),
  'proxy-protocol': occm('`true`, `v1` or `v2`: members get connections with the PROXY protocol'),
  'subnet-id': occm('subnet of the virtual address'),
  'timeout-client-data': occm("listener's timeout towards clients, in ms"),
  'timeout-member-connect': occm('timeout of connecting to a member, in ms'),
  'timeout-member-data': occm("listener's timeout towards members, in ms"),
  'timeout-tcp-inspect': occm('time to wait for more packets for inspection, in ms'),
  'x-forwarded-for': occm("`true`: members get the client's address in a header"),
};
