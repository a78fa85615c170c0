/** What the verbs of the client can be told. */

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** For the whole call with its retries; 30 s if not given. */
  readonly timeoutMs?: number | undefined;
  readonly retries?: boolean | undefined;
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: 'status' | 'scale' | undefined;
  /** Who owns the fields that are written. */
  readonly fieldManager?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take over fields that someone else owns. */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only this very object, in this very state. */
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
  /** Have the server send what there is first, and then a bookmark that says so. */
  readonly sendInitialEvents?: boolean | undefined;
  /** The server ends the watch after so long. */
  readonly timeoutSeconds?: number | undefined;
  /** With nothing heard for so long, not even a bookmark, the connection counts as dead. */
  readonly idleTimeoutMs?: (() => number) | undefined;
  readonly signal: AbortSignal;
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'copy' | 'move'; readonly path: string; readonly from: string };
