/** A label or an annotation, for the reference. */
export interface Mark {
  /** What carries it. */
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

/** Every one that Causeway reads or writes. `npm run docs` compares it with the sources, both ways. */
export const marks: Readonly<Record<string, Mark>> = {
  'causeway.dev/address': user(
    service,
    'the address that is wanted; two with a comma for two families',
  ),
  'causeway.dev/sharing-key': user(
    service,
    'Services with the same key may share an address (gateway, pool)',
  ),
  'causeway.dev/keep-floating-ip': user(
    service,
    '`true`: the floating IP outlives the Service (gateway, octavia)',
  ),
  'causeway.dev/octavia': user(
    service,
    '`true` gives a ClusterIP Service a load balancer, `false` keeps one from it; also the class of octavia',
  ),
  'causeway.dev/announcer': user(service, 'who announces its address (pool)'),
  'causeway.dev/project': user(
    service,
    'id of the project that owns its load balancer, one of `octavia.projects` (octavia)',
  ),
  'causeway.dev/security-groups': user(
    service,
    "ids of security groups for its VIP, beside the settings', with commas (octavia)",
  ),
  'causeway.dev/address-pool': user(service, 'the pool that its address is to come from (pool)'),
  'causeway.dev/address-pool-labels': user(
    service,
    'labels (`tier=gold,zone=b`) that the pool must have that its address comes from (pool)',
  ),
  'causeway.dev/node': user(service, 'the node whose address it is to have (pool)'),
  'causeway.dev/idle-after': user(service, 'it is put to sleep after so long without a connection'),
  'causeway.dev/hold': user(service, '`accept`: connections are accepted and held while it wakes'),
  'causeway.dev/load-balancer': ours(service, 'which provider serves it and what it holds'),
  'causeway.dev/gateway-ports': ours(
    service,
    'the ports of the cloud that it is served on (gateway)',
  ),
  'causeway.dev/gateway-layer': ours(
    service,
    '`Pod`: its gateways lead straight to its pods (gateway)',
  ),
  'causeway.dev/pool-holding': ours(
    service,
    'what it holds in the shared ledger, and who announces it (pool)',
  ),
  'causeway.dev/previous-min-replicas': ours(
    'HorizontalPodAutoscaler',
    'its least number of replicas before the Service was put to sleep',
  ),
  'causeway.dev/withdraws-after': ours(
    'Lease',
    'when an announcer that can not be reached counts as having let go (pool)',
  ),
  'causeway.dev/activity': ours(
    'ConfigMap',
    'a node’s report of which Services were used (idling)',
  ),
  'causeway.dev/backend': ours('what was discovered', 'label: the cloud that it was found in'),
  'causeway.dev/project-id': ours('what was discovered', 'label: the project'),
  'causeway.dev/load-balancer-id': ours('what was discovered', 'label: the load balancer'),
  'causeway.dev/discovered-as': ours(
    'what was discovered',
    'what it was made from, to notice changes',
  ),
  'causeway.dev/discovered-from': ours(
    'what was discovered',
    'the project and the load balancer that it was made from',
  ),
  'causeway.dev/project-name': ours('what was discovered', "the project's name"),
  'causeway.dev/load-balancer-name': ours('what was discovered', "the load balancer's name"),
  'causeway.dev/load-balancer-address': ours(
    'what was discovered',
    "the load balancer's own address",
  ),
  'causeway.dev/listeners': ours('what was discovered', 'the listeners behind its ports'),
  'causeway.dev/l7-pools': ours('what was discovered', 'pools that only L7 rules lead to'),
  'causeway.dev/weights': ours('what was discovered', "the members' weights"),
  'causeway.dev/content': ours('what was discovered', 'a hash of the addresses that were written'),
  'idling.alpha.openshift.io/idled-at': both(service, 'since when it sleeps'),
  'idling.alpha.openshift.io/unidle-targets': both(service, 'what is scaled up when it wakes'),
  'idling.alpha.openshift.io/previous-scale': both('what is scaled', 'how many replicas it had'),
  'cah-loadbalancer.k8s.cloudandheat.com/managed': both(
    service,
    "ch-k8s-lbaas's: `false` keeps Causeway away",
  ),
  'cah-loadbalancer.k8s.cloudandheat.com/inbound-port': both(
    service,
    "ch-k8s-lbaas's: the port of the cloud that it is served on",
  ),
  'openstack.org/kuryr-timeout-client-data': user(
    service,
    "Kuryr's: the listener's timeout towards clients, in ms",
  ),
  'openstack.org/kuryr-timeout-member-data': user(
    service,
    "Kuryr's: the listener's timeout towards members, in ms",
  ),
  'openstack.org/kuryr-lbaas-spec': both(service, "Kuryr's state of old releases; taken over once"),
  'openstack.org/kuryr-lbaas-state': both(
    service,
    "Kuryr's state of old releases; taken over once",
  ),
  'service.beta.kubernetes.io/openstack-internal-load-balancer': user(
    service,
    "OCCM's: `true` for a load balancer without a floating IP",
  ),
};

const occm = (meaning: string): Mark => user(service, meaning);

/** OCCM's own, which octavia reads with the prefix `loadbalancer.openstack.org/`. Compared likewise. */
export const occmMarks: Readonly<Record<string, Mark>> = {
  'availability-zone': occm("Octavia's availability zone"),
  class: occm('one of `octavia.classes`, which chooses networks and subnets'),
  'connection-limit': occm('connections a listener takes; -1 for no limit'),
  'default-tls-container-ref': occm(
    "Barbican's container with the certificate; listeners terminate TLS",
  ),
  'enable-health-monitor': occm('`true` for a health monitor'),
  'flavor-id': occm("Octavia's flavor"),
  'floating-network-id': occm('network that the floating IP comes from'),
  'floating-subnet': occm('name of its subnet, or `~` and a regular expression'),
  'floating-subnet-id': occm('id of its subnet'),
  'floating-subnet-tags': occm('tags of its subnet'),
  'health-monitor-delay': occm('seconds between checks'),
  'health-monitor-max-retries': occm('good checks until a member is up'),
  'health-monitor-max-retries-down': occm('bad checks until a member is down'),
  'health-monitor-timeout': occm('seconds that a check may take'),
  hostname: occm('host name in the status instead of the address'),
  'keep-floatingip': occm('`true`: the floating IP outlives the Service'),
  'lb-method': occm('how members are chosen'),
  'load-balancer-address': occm('the address that is wanted'),
  'load-balancer-id': occm('a load balancer that exists already, or is shared'),
  'member-subnet-id': occm('subnet that members are in'),
  'network-id': occm('network of the virtual address'),
  'node-selector': occm('nodes that are members, by labels'),
  'port-id': occm('a Neutron port that exists already, for the virtual address'),
  'proxy-protocol': occm('`true`, `v1` or `v2`: members are spoken to with the PROXY protocol'),
  'subnet-id': occm('subnet of the virtual address'),
  'timeout-client-data': occm("listener's timeout towards clients, in ms"),
  'timeout-member-connect': occm('timeout of connecting to a member, in ms'),
  'timeout-member-data': occm("listener's timeout towards members, in ms"),
  'timeout-tcp-inspect': occm('time to wait for more packets for inspection, in ms'),
  'x-forwarded-for': occm("`true`: members get the client's address in a header"),
};
