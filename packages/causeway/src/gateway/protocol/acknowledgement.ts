import type { EndpointIdRecord } from './records.ts';

/** An endpoint that is still served as an older push had it. Its address is not free. */
export interface OlderRecord extends EndpointIdRecord {
  readonly generation: number;
  readonly reason: string;
}

/** A frontend that is still served because the guard withholds its removal. */
export interface WithheldRecord extends OlderRecord {
  /** `namespace/name` of the Service that it was served for, where that is known. */
  readonly service?: string | undefined;
}

/** Something that was wrong with a push, grouped by the endpoint that it belongs to. */
export interface EndpointErrors {
  readonly endpoint: EndpointIdRecord | null;
  readonly errors: readonly { readonly record: number; readonly message: string }[];
}

/** The answer to a push that was applied. */
export interface Acknowledgement {
  readonly generation: number;
  /** Whether anything had to be written to the kernel. */
  readonly committed: boolean;
  readonly older: readonly OlderRecord[];
  /**
   * The removals that are withheld until the controller confirms them, one by one. Each is listed under
   * `older`, too. Missing where the agent is of a version that rejects such an update.
   */
  readonly withheld?: readonly WithheldRecord[];
  readonly errors: readonly EndpointErrors[];
}
