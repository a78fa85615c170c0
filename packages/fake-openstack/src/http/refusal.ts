/**
 * A request that a service declines. The service that throws it also words the body, because each of
 * the three has a shape of its own.
 */
export class Refusal extends Error {
  readonly status: number;
  /** Neutron's name for what happened; the others have none. */
  readonly type: string;
  /** Octavia answers some requests in plain text. */
  readonly plain: boolean;

  constructor(status: number, message: string, options: { type?: string; plain?: boolean } = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.type = options.type ?? 'HTTPBadRequest';
    this.plain = options.plain ?? false;
  }
}
