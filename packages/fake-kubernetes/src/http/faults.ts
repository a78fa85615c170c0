import type { StatusReason } from '../status.ts';
import type { ResourcePath } from './request-info.ts';

/** What a test can decide by whether a request should go wrong. */
export interface FaultSubject {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** What the path asks for, where it is about a resource. */
  readonly resource: ResourcePath | undefined;
  readonly isWatch: boolean;
}

/** How a request goes wrong. */
export type Fault =
  /** It is answered late. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** It is refused, and nothing is done. */
  | {
      readonly kind: 'refuse';
      readonly reason: StatusReason;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** The connection is cut, and nothing is done. */
  | { readonly kind: 'drop-before' }
  /** It is done, and the connection is cut instead of an answer. */
  | { readonly kind: 'drop-after' }
  /** It is never answered, and the connection stays open. */
  | { readonly kind: 'hang' };

/** Asked before every request; undefined lets it pass. */
export type FaultHook = (subject: FaultSubject) => Fault | undefined;
