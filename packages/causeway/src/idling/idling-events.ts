import { defineEvent } from '@causeway/kubernetes/events/event-definition';

/** The Events that idling records. */
export const idlingEvents = {
  Idled: defineEvent({
    reason: 'Idled',
    type: 'Normal',
    meaning: 'The controller scaled the pods of the Service to zero.',
    remedy: 'Nothing needs to be done.',
  }),
  Waking: defineEvent({
    reason: 'Waking',
    type: 'Normal',
    meaning: 'A client connected, and the controller starts the pods of the Service.',
    remedy: 'Nothing needs to be done.',
  }),
  Woken: defineEvent({
    reason: 'Woken',
    type: 'Normal',
    meaning: 'The Service has ready pods again. The message has the duration.',
    remedy: 'Nothing needs to be done.',
  }),
  WakeFailed: defineEvent({
    reason: 'WakeFailed',
    type: 'Warning',
    meaning: 'The controller failed to start the pods of the Service.',
    remedy: 'The controller tries again. Fix the cause that the message names.',
  }),
  WakeTargetMissing: defineEvent({
    reason: 'WakeTargetMissing',
    type: 'Warning',
    meaning: 'An object that the controller has to scale up does not exist.',
    remedy: 'Create the object again, or remove the annotations of idling from the Service.',
  }),
  CannotIdle: defineEvent({
    reason: 'CannotIdle',
    type: 'Warning',
    meaning: 'The controller did not scale the pods to zero. The message has the cause.',
    remedy: 'Fix the cause, or remove the annotation that requests idling.',
  }),
  CannotWake: defineEvent({
    reason: 'CannotWake',
    type: 'Warning',
    meaning:
      'The annotations of idling are not readable, so the controller does not know which objects to scale up.',
    remedy: 'Correct the annotations, or scale the objects by hand.',
  }),
  IdleMarkRepaired: defineEvent({
    reason: 'IdleMarkRepaired',
    type: 'Normal',
    meaning: 'The controller completed annotations that another tool left.',
    remedy: 'Nothing needs to be done.',
  }),
} as const;

type Own = Readonly<Record<keyof typeof idlingEvents, true>>;

declare module '@causeway/kubernetes/events/event-definition' {
  interface DefinedEvents extends Own {}
}
