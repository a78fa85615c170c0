import type { EventReason } from '@causeway/kubernetes/events/event-definition';

/** Something that a user or an operator should know, about one load balancer, project or backend. */
export interface Problem {
  /**
   * `refusal`: a part of the cloud is not replicated. `warning`: it is replicated, but usual clients will
   * fail. `note`: it is replicated, but with a difference.
   */
  readonly severity: 'refusal' | 'warning' | 'note';
  /** One word in CamelCase, the reason of the Event. */
  readonly reason: EventReason;
  readonly message: string;
}
