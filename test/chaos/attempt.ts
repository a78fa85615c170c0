/**
 * Address to connect to. The key names the Service together with the address, so that answers are not mixed
 * up.
 */
export interface Target {
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

/** Result of one connection attempt. */
export interface Attempt {
  readonly key: string;
  /** Wall time. */
  readonly beganAt: number;
  readonly tookMs: number;
  /** `POD PORT` */
  readonly said?: string;
  readonly error?: string;
}
