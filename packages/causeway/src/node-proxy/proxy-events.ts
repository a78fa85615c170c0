import { defineEvent } from '@causeway/kubernetes/events/event-definition';

/** The Events that the node proxy records. */
export const proxyEvents = {
  AddressTaken: defineEvent({
    reason: 'AddressTaken',
    type: 'Warning',
    meaning:
      'Another Service has the same address and port. The node proxy serves the other Service.',
    remedy: 'Change the address or the port of one of the Services.',
  }),
  EgressDenied: defineEvent({
    reason: 'EgressDenied',
    type: 'Warning',
    meaning: 'The egress firewall denies endpoints of the Service. The node proxy leaves them out.',
    remedy: 'Change the egress firewall, or remove the endpoints.',
  }),
  EndpointLossHeld: defineEvent({
    reason: 'EndpointLossHeld',
    type: 'Warning',
    meaning:
      'All endpoints of most Services are not ready at once. The node proxy keeps them in use, because a failure between kubelets and the API server is more likely.',
    remedy:
      'Check the connection between the nodes and the API server. The guard ends when endpoints are ready again.',
  }),
} as const;

type Own = Readonly<Record<keyof typeof proxyEvents, true>>;

declare module '@causeway/kubernetes/events/event-definition' {
  interface DefinedEvents extends Own {}
}
