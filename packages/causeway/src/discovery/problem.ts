/** Something that a user or an operator should know, about one load balancer, project or backend. */
export interface Problem {
  /**
   * `refusal`: something of the cloud's is not replicated. `warning`: it is, but whoever uses it as
   * usual will fail. `note`: it is, but not as one might think.
   */
  readonly severity: 'refusal' | 'warning' | 'note';
  /** One word in CamelCase, the reason of the Event. */
  readonly reason: string;
  readonly message: string;
}
