/** Options of the client's verbs. */

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** For the whole call with its retries; defaults to 30 s. */
  readonly timeoutMs?: number | undefined;
  readonly retries?: boolean | undefined;
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: 'status' | 'scale' | undefined;
  /** Owner of the written fields. */
  readonly fieldManager?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take over fields of other owners. */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only this object, in this state. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection, CallOptions {
  readonly pageSize?: number | undefined;
}

export interface WatchOptions extends Selection {
  readonly resourceVersion?: string | undefined;
  /** The server first sends the existing objects, and then a bookmark that marks their end. */
  readonly sendInitialEvents?: boolean | undefined;
  /** The server ends the watch after this time. */
  readonly timeoutSeconds?: number | undefined;
  /** After this time without data, including bookmarks, the connection counts as dead. */
  readonly idleTimeoutMs?: (() => number) | undefined;
  readonly signal: AbortSignal;
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'copy' | 'move'; readonly path: string; readonly from: string };
