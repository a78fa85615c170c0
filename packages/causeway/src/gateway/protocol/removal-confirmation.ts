import type { EndpointKey } from './endpoint.ts';

/** The withheld removals that a controller has verified, and what it verified them against. */
export interface RemovalConfirmation {
  readonly generation: number;
  /** The UID of the cluster whose API server was asked. */
  readonly cluster: string | undefined;
  readonly endpoints: ReadonlySet<EndpointKey>;
}
