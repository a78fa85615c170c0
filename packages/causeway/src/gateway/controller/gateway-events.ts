import { defineEvent } from '@causeway/kubernetes/events/event-definition';

/** The Events that the gateway provider records. */
export const gatewayEvents = {
  AddressTaken: defineEvent({
    reason: 'AddressTaken',
    type: 'Warning',
    meaning: 'Another Service has the requested address and port.',
    remedy: 'Request another address or port, or delete the other Service. The message names it.',
  }),
  AddressRefused: defineEvent({
    reason: 'AddressRefused',
    type: 'Warning',
    meaning: 'The requested address is outside the configured ranges, or the cloud refuses it.',
    remedy: 'Request an address of a configured range, or none.',
  }),
  Remapped: defineEvent({
    reason: 'Remapped',
    type: 'Warning',
    meaning: 'The Service moved to another address. The message has the address and the cause.',
    remedy: 'Update DNS records and firewalls that name the former address.',
  }),
  AddressChanged: defineEvent({
    reason: 'AddressChanged',
    type: 'Warning',
    meaning: 'The port of the Service was lost, and its replacement has another address.',
    remedy: 'Update DNS records and firewalls that name the former address.',
  }),
  AddressLost: defineEvent({
    reason: 'AddressLost',
    type: 'Warning',
    meaning: 'The port of the Service was lost, and the cloud refuses a replacement for now.',
    remedy: 'Check the quota and the network in the cloud. The controller retries automatically.',
  }),
  FloatingIpLost: defineEvent({
    reason: 'FloatingIpLost',
    type: 'Warning',
    meaning:
      'The floating IP of the Service was lost, and the cloud refuses a replacement for now.',
    remedy:
      'Check the quota and the external network in the cloud. The controller retries automatically.',
  }),
  AffinityNotKept: defineEvent({
    reason: 'AffinityNotKept',
    type: 'Warning',
    meaning:
      'A gateway runs the agent of ch-k8s-lbaas, which does not support session affinity. Connections of one client can reach different pods.',
    remedy: 'Replace the agent on that gateway, or remove `sessionAffinity` from the Service.',
  }),
  AffinityTimeoutNotUsed: defineEvent({
    reason: 'AffinityTimeoutNotUsed',
    type: 'Warning',
    meaning:
      'The gateways do not use `sessionAffinityConfig.clientIP.timeoutSeconds` of the Service. A client keeps its backend without a time limit, until the backends change.',
    remedy: 'Nothing needs to be done. To avoid the Event, leave out the timeout.',
  }),
  PortNotServed: defineEvent({
    reason: 'PortNotServed',
    type: 'Warning',
    meaning: 'The gateways do not serve one port of the Service. They serve its other ports.',
    remedy: 'Correct the port that the message names.',
  }),
  InvalidWeight: defineEvent({
    reason: 'InvalidWeight',
    type: 'Warning',
    meaning:
      'The annotation `causeway.dev/weight` of a pod is not a whole number from 0 to 256. The pod counts with the weight 1.',
    remedy: 'Correct the annotation on the pods that the message names.',
  }),
  NotFailoverSafe: defineEvent({
    reason: 'NotFailoverSafe',
    type: 'Warning',
    meaning:
      'The backends of the Service changed, and a gateway has not acknowledged the pins of its running connections. A failover to that gateway can break those connections.',
    remedy:
      'Check the gateway that the message names. The controller retries every two seconds, and the condition of the Service shows when all gateways have the pins.',
  }),
  GatewayRefused: defineEvent({
    reason: 'GatewayRefused',
    type: 'Warning',
    meaning:
      'At least one gateway refuses a port of the Service. The message has the port, the gateway and its answer. Other gateways may serve the port.',
    remedy:
      'Correct what the answer names. If only one gateway refuses, check the version and the log of its agent.',
  }),
} as const;

type Own = Readonly<Record<keyof typeof gatewayEvents, true>>;

declare module '@causeway/kubernetes/events/event-definition' {
  interface DefinedEvents extends Own {}
}
