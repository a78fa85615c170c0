/**
 * A request that a service rejects. The service that throws it also formats the body, because each of the
 * three services has its own format.
 */
export class Refusal extends Error {
  readonly status: number;
  /** Neutron's error type; empty for the other services. */
  readonly type: string;
  /** Whether the answer is plain text, as for some Octavia requests. */
  readonly plain: boolean;

  constructor(status: number, message: string, options: { type?: string; plain?: boolean } = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.type = options.type ?? 'HTTPBadRequest';
    this.plain = options.plain ?? false;
  }
}
