import { defineEvent } from '@causeway/kubernetes/events/event-definition';

/** The Events that discovery records. */
export const discoveryEvents = {
  Discovered: defineEvent({
    reason: 'Discovered',
    type: 'Normal',
    meaning: 'A Service mirrors a load balancer of the cloud from now on.',
    remedy: 'Nothing needs to be done.',
  }),
  AddressRefused: defineEvent({
    reason: 'AddressRefused',
    type: 'Warning',
    meaning: 'A member has an address that Kubernetes does not accept for an endpoint.',
    remedy: 'Correct the address of the member in the cloud.',
  }),
  NoListeners: defineEvent({
    reason: 'NoListeners',
    type: 'Normal',
    meaning: 'A load balancer has no listeners, so there is no Service for it.',
    remedy: 'Nothing needs to be done.',
  }),
  ProtocolUnknown: defineEvent({
    reason: 'ProtocolUnknown',
    type: 'Warning',
    meaning:
      'A listener has a protocol that a Service does not support. The Service has no port for it.',
    remedy: 'Use another protocol in the cloud if the Service needs the port.',
  }),
  PortTakenTwice: defineEvent({
    reason: 'PortTakenTwice',
    type: 'Warning',
    meaning: 'Two listeners have one port. The Service has only the first.',
    remedy: 'Give the second listener another port.',
  }),
  L7PoolsLeftOut: defineEvent({
    reason: 'L7PoolsLeftOut',
    type: 'Normal',
    meaning: 'The Service has no endpoints of pools that only L7 rules use.',
    remedy: 'Nothing needs to be done.',
  }),
  ProxyProtocolExpected: defineEvent({
    reason: 'ProxyProtocolExpected',
    type: 'Warning',
    meaning: 'The members expect the PROXY protocol, which a Service does not send.',
    remedy: 'Let the clients in the cluster send the PROXY protocol.',
  }),
  NamespaceMissing: defineEvent({
    reason: 'NamespaceMissing',
    type: 'Warning',
    meaning:
      'The namespace of the project does not exist, and discovery is not allowed to create it.',
    remedy: 'Create the namespace, or allow its creation.',
  }),
  NamespaceTerminating: defineEvent({
    reason: 'NamespaceTerminating',
    type: 'Warning',
    meaning: 'Kubernetes is deleting the namespace of the project.',
    remedy: 'Wait for the end of the deletion.',
  }),
  EndpointsNotMirrored: defineEvent({
    reason: 'EndpointsNotMirrored',
    type: 'Warning',
    meaning: 'A port has more endpoints than Kubernetes mirrors into EndpointSlices.',
    remedy: 'Reduce the number of members.',
  }),
  LoadBalancerUnclear: defineEvent({
    reason: 'LoadBalancerUnclear',
    type: 'Warning',
    meaning:
      'The user of discovery does not see all parts of a load balancer. Its Service stays as it is.',
    remedy: 'Give the user access to the whole load balancer.',
  }),
  NameTaken: defineEvent({
    reason: 'NameTaken',
    type: 'Warning',
    meaning:
      'An object that discovery does not own has the name. Discovery leaves the object alone.',
    remedy: 'Rename or delete the other object.',
  }),
  RefusedByKubernetes: defineEvent({
    reason: 'RefusedByKubernetes',
    type: 'Warning',
    meaning: 'The API server refused an object. The message has its answer.',
    remedy: 'Correct what the answer names.',
  }),
  DeletionsHeld: defineEvent({
    reason: 'DeletionsHeld',
    type: 'Warning',
    meaning:
      'A large part of the load balancers disappeared at once. Discovery keeps their Services until the deletion is confirmed.',
    remedy: 'Check the cloud. Confirm the deletion as the message says.',
  }),
  ProjectFailed: defineEvent({
    reason: 'ProjectFailed',
    type: 'Warning',
    meaning: 'Discovery failed to read a project. The Services of the project stay as they are.',
    remedy: 'Fix the cause that the message names.',
  }),
  ProjectUnknown: defineEvent({
    reason: 'ProjectUnknown',
    type: 'Warning',
    meaning: 'The configuration lists a project that does not exist.',
    remedy: 'Correct the list of projects.',
  }),
  BackendFailed: defineEvent({
    reason: 'BackendFailed',
    type: 'Warning',
    meaning: 'Discovery failed to read the cloud. All Services stay as they are.',
    remedy: 'Fix the cause that the message names.',
  }),
  CredentialsUnusable: defineEvent({
    reason: 'CredentialsUnusable',
    type: 'Warning',
    meaning: 'The file or Secret has no usable credentials.',
    remedy: 'Correct the file or Secret.',
  }),
  CredentialsRefused: defineEvent({
    reason: 'CredentialsRefused',
    type: 'Warning',
    meaning: 'The cloud refuses the credentials.',
    remedy: 'Renew the credentials.',
  }),
} as const;

type Own = Readonly<Record<keyof typeof discoveryEvents, true>>;

declare module '@causeway/kubernetes/events/event-definition' {
  interface DefinedEvents extends Own {}
}
