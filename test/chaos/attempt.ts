/** Where to knock. The key names the Service together with the place, so that answers are not mixed up. */
export interface Target {
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

/** What came of knocking once. */
export interface Attempt {
  readonly key: string;
  /** Wall time. */
  readonly beganAt: number;
  readonly tookMs: number;
  /** `POD PORT` */
  readonly said?: string;
  readonly error?: string;
}
