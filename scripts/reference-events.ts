/** An Event that Causeway writes, for the reference of Events. */
export interface EventMeaning {
  readonly type: 'Normal' | 'Warning';
  /** Which job says it. */
  readonly by: string;
  readonly meaning: string;
}

const normal = (by: string, meaning: string): EventMeaning => ({ type: 'Normal', by, meaning });
const warning = (by: string, meaning: string): EventMeaning => ({ type: 'Warning', by, meaning });

/** Every reason. `npm run docs` compares it with the sources, both ways. */
export const eventMeanings: Readonly<Record<string, EventMeaning>> = {
  EnsuringLoadBalancer: normal('controller', 'A provider has taken the Service over.'),
  EnsuredLoadBalancer: normal('controller', 'It is served; the message has its addresses.'),
  DeletingLoadBalancer: normal('controller', 'What it holds outside of the cluster is given back.'),
  DeletedLoadBalancer: normal('controller', 'Nothing is left of its load balancer.'),
  SyncLoadBalancerFailed: warning('controller', 'It could not be set up; it is tried again.'),
  DeleteLoadBalancerFailed: warning(
    'controller',
    'What it has could not be taken away; it is tried again.',
  ),
  UpdateLoadBalancerFailed: warning(
    'controller',
    'A change could not be made; what was served is served on.',
  ),
  LoadBalancerPending: normal('controller', 'It is under way; the message says what it waits for.'),
  ProviderMissing: warning(
    'controller',
    'The provider that serves it is not configured here any more; it is left alone.',
  ),
  UnreadableRecord: warning(
    'controller',
    'Its record on the Service was edited and can not be read. Restore it, or remove it if the Service holds nothing.',
  ),
  InvalidAddress: warning('gateway, octavia, pool', 'The address that it asks for is none.'),
  AddressesDiffer: warning('gateway', 'It asks for different addresses in two places.'),
  AddressDiffers: warning('pool', 'It asks for another address than the one that it holds.'),
  OverBudget: warning(
    'controller, proxy',
    'The Service is larger than the budget for a Service, and is not served; limits.md has the budget.',
  ),
  AddressTaken: warning('gateway', 'Another Service has the address and port that it asks for.'),
  AddressRefused: warning(
    'gateway, pool, discovery',
    'The address can not be had, or is no address for an endpoint.',
  ),
  Remapped: warning('gateway', 'It is on another address now.'),
  AddressChanged: warning('gateway', 'It is reached at another address now.'),
  AddressLost: warning('gateway', 'Its port is lost and can not be made again now.'),
  FloatingIpLost: warning(
    'gateway',
    'Its floating IP is lost and can not be had now; it is tried again.',
  ),
  AffinityNotKept: warning(
    'gateway',
    "Its clients are not kept on one pod: ch-k8s-lbaas's agents know no session affinity.",
  ),
  PortNotServed: warning('gateway', 'One of its ports can not be served; the others are.'),
  GatewayRefused: warning('gateway', 'Every gateway has refused it; the message has their words.'),
  OrphansHeld: warning(
    'gateway, octavia',
    'Cloud objects have a mark of this cluster and no Service uses them. They stay until `causeway orphans delete` confirms the deletion.',
  ),
  OrphanDeleted: normal('gateway, octavia', 'An orphan was deleted, as an operator has confirmed.'),
  ClusterIdShared: warning(
    'gateway, octavia',
    'Another cluster uses the same clusterId in this cloud project. Its objects are not touched.',
  ),
  KuryrEnsureLB: normal('octavia', 'A load balancer is being made.'),
  KuryrEnsuredLB: normal('octavia', 'The load balancer is there.'),
  KuryrEnsureLBError: warning('octavia', 'Octavia has failed; it is tried again.'),
  KuryrEnsureFIP: normal('octavia', 'A floating IP is being attached.'),
  KuryrReleaseFIP: normal('octavia', 'A floating IP is being detached.'),
  KuryrReleaseLB: normal('octavia', 'The load balancer is being deleted.'),
  KuryrSkipMember: warning('octavia', 'A node or an endpoint has no address that fits.'),
  KuryrSkipListener: warning(
    'octavia',
    "Octavia's provider can not serve one of the ports; the others are served.",
  ),
  KuryrStateUnreadable: warning(
    'octavia',
    'What Kuryr left on the Service can not be read; its load balancer is looked for by name.',
  ),
  KuryrUpdateAddress: warning('octavia', 'It is made anew at the address that is asked for.'),
  KuryrUpdateProvider: warning('octavia', 'It is made anew with the provider that is asked for.'),
  FloatingIPMissing: warning('octavia', 'Its floating IP was deleted by somebody else.'),
  LoadBalancerMissing: warning(
    'octavia',
    'Its load balancer was deleted by somebody else; it is made anew.',
  ),
  LoadBalancerListenerMissing: warning(
    'octavia',
    'A listener was deleted by somebody else; it is made anew.',
  ),
  LoadBalancerPoolMissing: warning(
    'octavia',
    'A pool was deleted by somebody else; it is made anew.',
  ),
  LoadBalancerNotOurs: warning(
    'octavia',
    'The load balancer in its status was not made for it, and is left alone; it gets its own.',
  ),
  NoSuchLoadBalancer: warning('octavia', 'The load balancer that it names does not exist.'),
  LoadBalancerInError: warning(
    'octavia',
    'The load balancer that it shares is in ERROR. It is served again once that is back.',
  ),
  OtherClustersLoadBalancer: warning(
    'octavia',
    'The load balancer that it names belongs to another cluster.',
  ),
  PortTaken: warning(
    'octavia',
    'Another Service has the port on the load balancer that they share.',
  ),
  OptionUnsupported: warning(
    'octavia',
    "Octavia's provider can not do what an option asks for; it is left out.",
  ),
  NewerState: warning(
    'octavia',
    'A newer Causeway has written its state; this one leaves it alone.',
  ),
  SourceRangesUnsupported: warning(
    'octavia',
    "Octavia's provider can not restrict sources, and it is not opened to everybody.",
  ),
  SourceRangeIgnored: warning('octavia', 'A source range is of the other family, or none.'),
  AnnotationIgnored: warning(
    'octavia',
    'The value of an annotation makes no sense; it is left out.',
  ),
  NoNodePorts: warning('octavia', 'Members are node ports, and it has none.'),
  NoReadyNode: warning('octavia', 'No node is ready; until one is, all of them stay members.'),
  SecurityGroupNotOpened: warning(
    'octavia',
    'It is not known where the load balancer connects from, so its members are not opened for it.',
  ),
  CannotBeWoken: warning(
    'octavia',
    'It sleeps without node ports: its load balancer can not wake it.',
  ),
  NoAnnouncer: warning(
    'pool',
    'Nobody in the cluster announces addresses, or several do. Name one.',
  ),
  InvalidPoolLabels: warning('pool', 'The labels that it wants of a pool can’t be read.'),
  UnknownAnnouncer: warning('pool', 'The announcer that it names is none that is known.'),
  AnnouncerChanged: warning(
    'pool',
    'It holds an address of the pool and asks for one of a node now. Create it anew.',
  ),
  NoLedger: warning(
    'pool',
    'It asks for an announcer of addresses of a pool, and the controller was given no ledger.',
  ),
  NotAnnounced: warning('pool', 'The announcer can not announce what it asks for.'),
  ForeignAddress: warning(
    'controller',
    'Its status has an address that somebody else put there; it is left alone.',
  ),
  ForeignClass: warning('pool', 'The announcer does not look at Services of its class.'),
  CannotWithdraw: warning(
    'pool',
    'The announcer announces until the Service is deleted, so that nothing can be promised to the ledger.',
  ),
  StillAnnounced: warning(
    'pool',
    'It is gone and still seen announced; its address stays reserved.',
  ),
  TakenBack: warning(
    'pool',
    'The ledger no longer has the address that kube-vip announces; another one is asked for.',
  ),
  Withdrawn: warning('pool', 'Its address was taken back; it gets another one.'),
  Discovered: normal('discovery', 'A load balancer of the cloud has become a Service.'),
  NoListeners: normal('discovery', 'A load balancer has no listeners, and so no Service.'),
  ProtocolUnknown: warning(
    'discovery',
    'A listener speaks what a Service can not; it is left out.',
  ),
  PortTakenTwice: warning(
    'discovery',
    'Two listeners are on one port; the second one is left out.',
  ),
  L7PoolsLeftOut: normal('discovery', 'Pools that only L7 rules lead to are left out.'),
  ProxyProtocolExpected: normal(
    'discovery',
    'Members expect the PROXY protocol, which a Service does not speak.',
  ),
  NamespaceMissing: warning(
    'discovery',
    "The project's namespace does not exist and may not be made.",
  ),
  NamespaceTerminating: warning('discovery', "The project's namespace is being deleted."),
  EndpointsNotMirrored: warning(
    'discovery',
    'A port has more endpoints than Kubernetes makes slices of.',
  ),
  LoadBalancerUnclear: warning(
    'discovery',
    'Our user does not see all of a load balancer; what is here of it stays as it is.',
  ),
  NameTaken: warning('discovery', 'Somebody else has an object of that name; it is left alone.'),
  RefusedByKubernetes: warning('discovery', 'The API server did not take the object.'),
  DeletionsHeld: warning(
    'discovery',
    'So much would vanish at once that it is kept until it is confirmed.',
  ),
  ProjectFailed: warning('discovery', 'A project can not be read; what is known of it stays.'),
  ProjectUnknown: warning('discovery', 'The lists of projects name one that does not exist.'),
  BackendFailed: warning('discovery', 'The cloud can not be read; what is known of it stays.'),
  CredentialsUnusable: warning('discovery', 'What is in the file or Secret makes no credentials.'),
  CredentialsRefused: warning('discovery', 'The cloud does not take the credentials.'),
  Idled: normal('idling', 'It was put to sleep.'),
  Waking: normal('idling', 'A connection came; its pods are being started.'),
  Woken: normal('idling', 'It is awake; the message has how long it took.'),
  WakeFailed: warning('idling', 'It could not be woken; it is tried again.'),
  WakeTargetMissing: warning('idling', 'What is to be scaled up does not exist any more.'),
  CannotIdle: warning('idling', 'It can not be put to sleep; the message says why.'),
  CannotWake: warning('idling', 'Its marks can not be read, so nobody knows what to scale up.'),
  IdleMarkRepaired: normal('idling', 'Marks that another tool left were put right.'),
  EgressDenied: warning(
    'proxy',
    'Endpoints are left out, because the egress firewall denies them.',
  ),
};
