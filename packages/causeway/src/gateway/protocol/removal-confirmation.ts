import type { FrontendKey } from './frontend.ts';

/**
 * The withheld removals that a controller has verified, with the generation and cluster of the verification.
 */
export interface RemovalConfirmation {
  readonly generation: number;
  /** The UID of the cluster of the queried API server. */
  readonly cluster: string | undefined;
  readonly frontends: ReadonlySet<FrontendKey>;
}
