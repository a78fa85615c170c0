import type { FrontendIdRecord } from './records.ts';

/** A frontend that is still served from an older update. Its address is not free. */
export interface OlderRecord extends FrontendIdRecord {
  readonly generation: number;
  readonly reason: string;
}

/** A frontend that is still served because the guard withholds its removal. */
export interface WithheldRecord extends OlderRecord {
  /** `namespace/name` of the Service that it was served for, if known. */
  readonly service?: string | undefined;
}

/** Errors of an update, grouped by frontend. */
export interface FrontendErrors {
  readonly frontend: FrontendIdRecord | null;
  readonly errors: readonly { readonly record: number; readonly message: string }[];
}

/** The answer to an applied update. */
export interface Acknowledgement {
  readonly generation: number;
  /** Whether the apply wrote to the kernel. */
  readonly committed: boolean;
  readonly older: readonly OlderRecord[];
  /**
   * The removals that are withheld until the controller confirms them one by one. Each is also listed under
   * `older`. Missing if the agent's version rejects such an update.
   */
  readonly withheld?: readonly WithheldRecord[];
  readonly errors: readonly FrontendErrors[];
}
