import { defineEvent } from '@causeway/kubernetes/events/event-definition';

/** The Events that the controller records. */
export const serviceEvents = {
  EnsuringLoadBalancer: defineEvent({
    reason: 'EnsuringLoadBalancer',
    type: 'Normal',
    meaning: 'A provider serves the Service from now on. The message names the provider.',
    remedy: 'Nothing needs to be done.',
  }),
  EnsuredLoadBalancer: defineEvent({
    reason: 'EnsuredLoadBalancer',
    type: 'Normal',
    meaning: 'The load balancer serves the Service. The message has the addresses.',
    remedy: 'Nothing needs to be done.',
  }),
  DeletingLoadBalancer: defineEvent({
    reason: 'DeletingLoadBalancer',
    type: 'Normal',
    meaning: 'The provider removes the load balancer of the Service.',
    remedy: 'Nothing needs to be done.',
  }),
  DeletedLoadBalancer: defineEvent({
    reason: 'DeletedLoadBalancer',
    type: 'Normal',
    meaning: 'The load balancer of the Service is removed, and its finalizers with it.',
    remedy: 'Nothing needs to be done.',
  }),
  SyncLoadBalancerFailed: defineEvent({
    reason: 'SyncLoadBalancerFailed',
    type: 'Warning',
    meaning: 'The provider failed to set up the load balancer.',
    remedy:
      'The controller retries automatically. If the Event repeats, fix the cause that the message names.',
  }),
  UpdateLoadBalancerFailed: defineEvent({
    reason: 'UpdateLoadBalancerFailed',
    type: 'Warning',
    meaning:
      'The provider failed to update the load balancer. The load balancer serves its former state.',
    remedy:
      'The controller retries automatically. If the Event repeats, fix the cause that the message names.',
  }),
  DeleteLoadBalancerFailed: defineEvent({
    reason: 'DeleteLoadBalancerFailed',
    type: 'Warning',
    meaning:
      'The provider failed to remove the load balancer. The Service stays until the removal succeeds.',
    remedy:
      'The controller retries automatically. If the Event repeats, fix the cause that the message names.',
  }),
  LoadBalancerPending: defineEvent({
    reason: 'LoadBalancerPending',
    type: 'Normal',
    meaning: 'The Service waits for more than 5 seconds. The message says what it waits for.',
    remedy: 'Check the component that the message names.',
  }),
  ProviderMissing: defineEvent({
    reason: 'ProviderMissing',
    type: 'Warning',
    meaning:
      'The configuration has no provider of the name that serves the Service. The controller leaves the Service alone.',
    remedy: 'Configure the provider again, or delete the Service.',
  }),
  UnreadableRecord: defineEvent({
    reason: 'UnreadableRecord',
    type: 'Warning',
    meaning:
      'The annotation `causeway.dev/load-balancer` is not readable. The controller leaves the Service alone.',
    remedy: 'Restore the annotation. Remove it only if the Service has no load balancer.',
  }),
  ForeignAddress: defineEvent({
    reason: 'ForeignAddress',
    type: 'Warning',
    meaning:
      'The status of the Service has an address that Causeway did not write. The controller leaves the Service alone.',
    remedy:
      'Clear the status with the command in the message after the other load balancer stopped.',
  }),
  InvalidAddress: defineEvent({
    reason: 'InvalidAddress',
    type: 'Warning',
    meaning:
      'The requested address is not an IP address, or two requested addresses have one family.',
    remedy: 'Correct the address in the spec or in the annotation.',
  }),
  AddressesDiffer: defineEvent({
    reason: 'AddressesDiffer',
    type: 'Warning',
    meaning: 'The spec and an annotation of the Service request different addresses.',
    remedy: 'Request the address in one place.',
  }),
  SharingKeysDiffer: defineEvent({
    reason: 'SharingKeysDiffer',
    type: 'Warning',
    meaning:
      'The sharing key of Causeway and the sharing key of MetalLB on the Service differ. The key of Causeway counts.',
    remedy: 'Remove one of the annotations.',
  }),
  UnknownAnnotation: defineEvent({
    reason: 'UnknownAnnotation',
    type: 'Warning',
    meaning:
      'The Service has an annotation with the prefix `causeway.dev/` that Causeway does not know, so it has no effect.',
    remedy: 'Correct the name as the message says, or remove the annotation.',
  }),
  NoSuchFamily: defineEvent({
    reason: 'NoSuchFamily',
    type: 'Warning',
    meaning: 'The Service requests an IP family in which the gateways have no addresses.',
    remedy: 'Change `spec.ipFamilies`, or give the gateways addresses of the family.',
  }),
  FamilyExhausted: defineEvent({
    reason: 'FamilyExhausted',
    type: 'Warning',
    meaning:
      'The Service prefers two address families, and no address of one family is left. The gateways serve the Service on the other family.',
    remedy:
      'Add addresses of the missing family, or delete Services. The controller then assigns the address automatically.',
  }),
  AddressOfOtherFamily: defineEvent({
    reason: 'AddressOfOtherFamily',
    type: 'Warning',
    meaning: 'The requested address has a family that the Service does not use.',
    remedy: 'Change the address or `spec.ipFamilies`.',
  }),
  OverBudget: defineEvent({
    reason: 'OverBudget',
    type: 'Warning',
    meaning: 'The Service is larger than the budget for one Service, and is not served.',
    remedy:
      'Reduce the ports, source ranges, addresses or endpoints to the [limits](../limits.md).',
  }),
  OrphansHeld: defineEvent({
    reason: 'OrphansHeld',
    type: 'Warning',
    meaning:
      'Cloud objects have a mark of this cluster, but no Service uses them. They stay until an operator confirms their deletion.',
    remedy: 'List them with `causeway orphans list`. Delete them with `causeway orphans delete`.',
  }),
  OrphanRegisterDamaged: defineEvent({
    reason: 'OrphanRegisterDamaged',
    type: 'Warning',
    meaning:
      'The list of orphans in the ConfigMap was damaged. The controller has set it aside and written a new list. It deletes nothing because of the damage.',
    remedy:
      'Find out which client wrote the ConfigMap `causeway-orphans`. Confirm deletions again with `causeway orphans delete`, and delete the key `damaged.PROVIDER`.',
  }),
  OrphanDeleted: defineEvent({
    reason: 'OrphanDeleted',
    type: 'Normal',
    meaning:
      'The controller deleted a cloud object without a Service after an operator confirmed the deletion.',
    remedy: 'Nothing needs to be done.',
  }),
  ClusterIdShared: defineEvent({
    reason: 'ClusterIdShared',
    type: 'Warning',
    meaning:
      'Another cluster uses the same `clusterId` in this cloud project. The controller leaves the objects of the other cluster alone.',
    remedy: 'Give each cluster its own `clusterId`.',
  }),
  MassLossHeld: defineEvent({
    reason: 'MassLossHeld',
    type: 'Warning',
    meaning:
      'More than half of the nodes are not ready, or were deleted at once. They stay in use, because a failure between kubelets and the API server is more likely. The message has the numbers.',
    remedy:
      'Check the connection between the nodes and the API server. The guard ends when the nodes are ready again.',
  }),
  AddressesKept: defineEvent({
    reason: 'AddressesKept',
    type: 'Warning',
    meaning:
      'Services have addresses that are in no list of `gateway.addresses`. They keep them, and stay served. The message names them.',
    remedy:
      'Restore the range in `gateway.addresses`, or name it in `gateway.retiringAddresses`. To move a Service, annotate it with `causeway.dev/release-address: "true"`.',
  }),
  GuardEnded: defineEvent({
    reason: 'GuardEnded',
    type: 'Normal',
    meaning: 'A guard holds nothing back any more.',
    remedy: 'Nothing needs to be done.',
  }),
} as const;

type Own = Readonly<Record<keyof typeof serviceEvents, true>>;

declare module '@causeway/kubernetes/events/event-definition' {
  interface DefinedEvents extends Own {}
}
