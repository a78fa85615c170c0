/** Options of every call to a cloud. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /**
   * Milliseconds for the whole call, including the wait for a free slot, tokens and retries. Defaults to the
   * deadline of the cloud.
   */
  readonly deadlineMs?: number;
}

export interface UpdateOptions extends CallOptions {
  /**
   * Neutron's revision of the object, as it was read. Neutron answers 412 if the object has changed since.
   */
  readonly ifRevision?: number | undefined;
}

/**
 * How a create avoids duplicates. OpenStack has no idempotency keys, so the client recognizes an object by a
 * field of its spec that the caller keeps unique.
 */
export interface CreateOptions extends CallOptions {
  /**
   * The field that is unique among the objects of this kind in the project. With it, the client searches for
   * the object after a lost answer and repeats the create only if it finds none. Without it, such a create
   * fails with `outcome: 'unknown'` and is never repeated.
   */
  readonly once?: 'name' | 'description';
  /** An earlier process may have created the object: search for it before the first attempt too. */
  readonly mayExist?: boolean;
}

/** Result of a delete. `absent` is a success too: the object does not exist either way. */
export type Deletion = 'deleted' | 'absent';
