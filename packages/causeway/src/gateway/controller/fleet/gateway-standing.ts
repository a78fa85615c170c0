import type { Role } from '../../protocol/role.ts';

/** The state of one gateway. */
export interface GatewayStanding {
  readonly name: string;
  /** How long the gateway has not answered, or not accepted an update; undefined while it does. */
  readonly downForMs: number | undefined;
  /** The reason for this, if any. */
  readonly failure: string | undefined;
  /** The generation that the gateway reports; 0 before its first answer. */
  readonly generation: number;
  /** Whether the gateway has confirmed the newest state. */
  readonly isCurrent: boolean;
  readonly isActive: boolean;
  /** Undefined while the gateway does not answer. */
  readonly role?: Role | undefined;
  readonly isFenced: boolean;
  /** The number of frontends that the gateway rejects, and its other problems. */
  readonly refusedFrontends: number;
  /** The number of frontends that the gateway still serves because their removal is not verified. */
  readonly withheldRemovals: number;
  readonly complaints: readonly string[];
}
