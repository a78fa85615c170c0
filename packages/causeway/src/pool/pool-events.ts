import { defineEvent } from '@causeway/kubernetes/events/event-definition';

/** The Events that the pool provider records. */
export const poolEvents = {
  AddressDiffers: defineEvent({
    reason: 'AddressDiffers',
    type: 'Warning',
    meaning: 'The Service requests another address than the address that it holds.',
    remedy:
      'Delete the Service and create it with the other address, or request the address that it holds.',
  }),
  AddressRefused: defineEvent({
    reason: 'AddressRefused',
    type: 'Warning',
    meaning: 'The ledger refuses the requested address.',
    remedy: 'Request an address of a pool of the site, or none.',
  }),
  NoAnnouncer: defineEvent({
    reason: 'NoAnnouncer',
    type: 'Warning',
    meaning: 'The cluster has no program that announces addresses, or has several.',
    remedy:
      'Install one, or name one with `causeway.dev/announcer`. The controller checks again at intervals.',
  }),
  InvalidPoolLabels: defineEvent({
    reason: 'InvalidPoolLabels',
    type: 'Warning',
    meaning: 'The annotation with the labels of the pool is not readable.',
    remedy: 'Correct the annotation.',
  }),
  UnknownAnnouncer: defineEvent({
    reason: 'UnknownAnnouncer',
    type: 'Warning',
    meaning: 'The annotation names an announcer that Causeway does not know.',
    remedy: 'Correct the annotation. The message lists the known announcers.',
  }),
  AnnouncerChanged: defineEvent({
    reason: 'AnnouncerChanged',
    type: 'Warning',
    meaning: 'The Service holds an address of a pool and now requests an address of a node.',
    remedy: 'Delete the Service and create it again.',
  }),
  NoLedger: defineEvent({
    reason: 'NoLedger',
    type: 'Warning',
    meaning: 'The Service requests an address of a pool, and the controller has no ledger.',
    remedy: 'Configure the ledger of the pool, or use the announcer `node`.',
  }),
  NotAnnounced: defineEvent({
    reason: 'NotAnnounced',
    type: 'Warning',
    meaning: 'The announcer does not support what the Service requests.',
    remedy: 'Change the request that the message names, or use another announcer.',
  }),
  ForeignClass: defineEvent({
    reason: 'ForeignClass',
    type: 'Warning',
    meaning: 'The announcer ignores Services with this load balancer class.',
    remedy: 'Use a class that the announcer serves, or another announcer.',
  }),
  CannotWithdraw: defineEvent({
    reason: 'CannotWithdraw',
    type: 'Warning',
    meaning:
      'The announcer announces the address until the Service is deleted, so it does not support self-withdrawal.',
    remedy: 'Use another announcer, or disable self-withdrawal.',
  }),
  StillAnnounced: defineEvent({
    reason: 'StillAnnounced',
    type: 'Warning',
    meaning:
      'The Service was deleted, but a program still announces its address. The address stays reserved.',
    remedy: 'Stop the announcement in the announcer.',
  }),
  TakenBack: defineEvent({
    reason: 'TakenBack',
    type: 'Warning',
    meaning:
      'The ledger gave the address of the Service to another owner, and kube-vip still announces it. The controller requests another address.',
    remedy: 'Delete the Service if no other address is available.',
  }),
  Withdrawn: defineEvent({
    reason: 'Withdrawn',
    type: 'Warning',
    meaning: 'The controller stopped the announcement of the address. The message has the cause.',
    remedy:
      'Check the connection to the ledger. The controller announces an address again as soon as the ledger answers.',
  }),
} as const;

type Own = Readonly<Record<keyof typeof poolEvents, true>>;

declare module '@causeway/kubernetes/events/event-definition' {
  interface DefinedEvents extends Own {}
}
