import type { StatusReason } from '../status.ts';
import type { ResourcePath } from './request-info.ts';

/** Properties of a request that a test can use to select a fault. */
export interface FaultSubject {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The parsed path, if it refers to a resource. */
  readonly resource: ResourcePath | undefined;
  readonly isWatch: boolean;
}

/** A fault of a request. */
export type Fault =
  /** The response is delayed. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** The request is rejected and has no effect. */
  | {
      readonly kind: 'refuse';
      readonly reason: StatusReason;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** The connection is closed and the request has no effect. */
  | { readonly kind: 'drop-before' }
  /** The request takes effect, but the connection is closed before the response. */
  | { readonly kind: 'drop-after' }
  /** The request gets no response and the connection stays open. */
  | { readonly kind: 'hang' };

/** Called before every request. Returns undefined if the request has no fault. */
export type FaultHook = (subject: FaultSubject) => Fault | undefined;
