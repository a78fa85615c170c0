import { defineEvent } from '@causeway/kubernetes/events/event-definition';

/** The Events that the octavia provider records. */
export const octaviaEvents = {
  KuryrEnsureLB: defineEvent({
    reason: 'KuryrEnsureLB',
    type: 'Normal',
    meaning: 'The controller creates a load balancer.',
    remedy: 'Nothing needs to be done.',
  }),
  KuryrEnsuredLB: defineEvent({
    reason: 'KuryrEnsuredLB',
    type: 'Normal',
    meaning: 'The load balancer is ready.',
    remedy: 'Nothing needs to be done.',
  }),
  KuryrEnsureLBError: defineEvent({
    reason: 'KuryrEnsureLBError',
    type: 'Warning',
    meaning: 'Octavia failed to create or change the load balancer, or takes too long.',
    remedy: 'The controller tries again. If the Event repeats, ask the operator of the cloud.',
  }),
  KuryrEnsureFIP: defineEvent({
    reason: 'KuryrEnsureFIP',
    type: 'Normal',
    meaning: 'The controller attaches a floating IP.',
    remedy: 'Nothing needs to be done.',
  }),
  KuryrReleaseFIP: defineEvent({
    reason: 'KuryrReleaseFIP',
    type: 'Normal',
    meaning: 'The controller detaches a floating IP.',
    remedy: 'Nothing needs to be done.',
  }),
  KuryrReleaseLB: defineEvent({
    reason: 'KuryrReleaseLB',
    type: 'Normal',
    meaning: 'The controller deletes the load balancer, or removes the Service from a shared one.',
    remedy: 'Nothing needs to be done.',
  }),
  KuryrSkipMember: defineEvent({
    reason: 'KuryrSkipMember',
    type: 'Warning',
    meaning: 'A node or an endpoint has no address of a family that the load balancer uses.',
    remedy: 'Check the addresses of the node or pod that the message names.',
  }),
  KuryrSkipListener: defineEvent({
    reason: 'KuryrSkipListener',
    type: 'Warning',
    meaning:
      'The provider of Octavia does not support one port of the Service. The load balancer serves the other ports.',
    remedy: 'Use another protocol or another provider of Octavia.',
  }),
  KuryrStateUnreadable: defineEvent({
    reason: 'KuryrStateUnreadable',
    type: 'Warning',
    meaning:
      'The state that Kuryr left on the Service is not readable. The controller finds the load balancer by its name and address.',
    remedy: 'Check that the Service has the right load balancer.',
  }),
  KuryrUpdateAddress: defineEvent({
    reason: 'KuryrUpdateAddress',
    type: 'Warning',
    meaning:
      'The controller replaces the load balancer, because the Service requests another address.',
    remedy: 'Expect an interruption until the replacement is ready.',
  }),
  KuryrUpdateProvider: defineEvent({
    reason: 'KuryrUpdateProvider',
    type: 'Warning',
    meaning:
      'The controller replaces the load balancer, because the Service requests another provider of Octavia.',
    remedy: 'Expect an interruption until the replacement is ready.',
  }),
  FloatingIPMissing: defineEvent({
    reason: 'FloatingIPMissing',
    type: 'Warning',
    meaning: 'Another program deleted the floating IP of the Service.',
    remedy: 'The controller attaches another one. Update DNS records that name the former address.',
  }),
  LoadBalancerMissing: defineEvent({
    reason: 'LoadBalancerMissing',
    type: 'Warning',
    meaning: 'Another program deleted the load balancer. The controller creates it again.',
    remedy: 'Find the program in the audit log of the cloud if the Event repeats.',
  }),
  LoadBalancerListenerMissing: defineEvent({
    reason: 'LoadBalancerListenerMissing',
    type: 'Warning',
    meaning: 'Another program deleted a listener. The controller creates it again.',
    remedy: 'Find the program in the audit log of the cloud if the Event repeats.',
  }),
  LoadBalancerPoolMissing: defineEvent({
    reason: 'LoadBalancerPoolMissing',
    type: 'Warning',
    meaning: 'Another program deleted a pool. The controller creates it again.',
    remedy: 'Find the program in the audit log of the cloud if the Event repeats.',
  }),
  LoadBalancerNotOurs: defineEvent({
    reason: 'LoadBalancerNotOurs',
    type: 'Warning',
    meaning:
      'The load balancer in the status was not created for the Service. The controller leaves it alone and creates another one.',
    remedy: 'Check the load balancer that the message names, and delete it if no cluster uses it.',
  }),
  NoSuchLoadBalancer: defineEvent({
    reason: 'NoSuchLoadBalancer',
    type: 'Warning',
    meaning: 'The load balancer that the Service names does not exist.',
    remedy: 'Correct the annotation that names the load balancer.',
  }),
  LoadBalancerInError: defineEvent({
    reason: 'LoadBalancerInError',
    type: 'Warning',
    meaning:
      'The shared load balancer is in the status ERROR. The controller serves the Service again after its recovery.',
    remedy: 'Ask the operator of the cloud for a failover of the load balancer.',
  }),
  OtherClustersLoadBalancer: defineEvent({
    reason: 'OtherClustersLoadBalancer',
    type: 'Warning',
    meaning: 'The load balancer that the Service names belongs to another cluster.',
    remedy: 'Name a load balancer of this cluster, or none.',
  }),
  PortTaken: defineEvent({
    reason: 'PortTaken',
    type: 'Warning',
    meaning: 'Another Service has the port on the shared load balancer.',
    remedy: 'Use another port, or another load balancer.',
  }),
  OptionUnsupported: defineEvent({
    reason: 'OptionUnsupported',
    type: 'Warning',
    meaning:
      'The provider of Octavia does not support an option of the Service. The load balancer works without the option.',
    remedy: 'Remove the option, or use another provider of Octavia.',
  }),
  NewerState: defineEvent({
    reason: 'NewerState',
    type: 'Warning',
    meaning:
      'A newer version of Causeway wrote the state of the load balancer. This version leaves the load balancer alone.',
    remedy: 'Run the newer version, or empty the status of the KuryrLoadBalancer.',
  }),
  SourceRangesUnsupported: defineEvent({
    reason: 'SourceRangesUnsupported',
    type: 'Warning',
    meaning:
      'The provider of Octavia does not support source ranges. The controller does not serve the Service, because it would be open to every source.',
    remedy: 'Remove the source ranges, or use another provider of Octavia.',
  }),
  SourceRangeIgnored: defineEvent({
    reason: 'SourceRangeIgnored',
    type: 'Warning',
    meaning: 'A source range is not a CIDR, or has another family than the load balancer.',
    remedy: 'Correct the source range that the message names.',
  }),
  AnnotationIgnored: defineEvent({
    reason: 'AnnotationIgnored',
    type: 'Warning',
    meaning: 'The value of an annotation is not valid. The controller ignores the annotation.',
    remedy: 'Correct the value that the message names.',
  }),
  NoSubnet: defineEvent({
    reason: 'NoSubnet',
    type: 'Warning',
    meaning: 'The configuration has no subnet for the IP family of the Service.',
    remedy: 'Add a subnet of the family to `octavia.subnets`.',
  }),
  NoNodePorts: defineEvent({
    reason: 'NoNodePorts',
    type: 'Warning',
    meaning: 'The members of the load balancer are node ports, and the Service has none.',
    remedy: 'Set `allocateLoadBalancerNodePorts` to true, or use pods as members.',
  }),
  NoReadyNode: defineEvent({
    reason: 'NoReadyNode',
    type: 'Warning',
    meaning: 'No node is ready. All nodes stay members until one is ready.',
    remedy: 'Check the nodes of the cluster.',
  }),
  SecurityGroupNotOpened: defineEvent({
    reason: 'SecurityGroupNotOpened',
    type: 'Warning',
    meaning:
      'The source address of the load balancer is unknown, so the controller does not open the security group of the pods for it.',
    remedy:
      'Open the security group by hand, or ask the operator of the cloud for access to the ports of the load balancer.',
  }),
  CannotBeWoken: defineEvent({
    reason: 'CannotBeWoken',
    type: 'Warning',
    meaning:
      'The Service is idle and has no node ports, so its load balancer has no way to wake it.',
    remedy: 'Set `allocateLoadBalancerNodePorts` to true, or wake the Service by hand.',
  }),
} as const;

type Own = Readonly<Record<keyof typeof octaviaEvents, true>>;

declare module '@causeway/kubernetes/events/event-definition' {
  interface DefinedEvents extends Own {}
}
