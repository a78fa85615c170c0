/** What every call to a cloud takes. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /**
   * Milliseconds for the whole call: the wait for a free slot, tokens and retries included.
   * The cloud's own default holds where it is left out.
   */
  readonly deadlineMs?: number;
}

export interface UpdateOptions extends CallOptions {
  /** Change it only if nobody has since: Neutron's revision, as it was read. Else it answers 412. */
  readonly ifRevision?: number | undefined;
}

/**
 * How a create is kept from happening twice. OpenStack has no idempotency keys, so an object is
 * recognised by a field of its spec that the caller keeps unique to it.
 */
export interface CreateOptions extends CallOptions {
  /**
   * The field that no other object of this kind in the project carries with the same value. With it
   * a create whose answer was lost is looked up and repeated only if nothing is found. Without it
   * such a create fails with `outcome: 'unknown'` and is never repeated.
   */
  readonly once?: 'name' | 'description';
  /** An earlier process may have got through: look for the object before the first try too. */
  readonly mayExist?: boolean;
}

/** What a delete found: nothing to delete is a success too, because the object is gone either way. */
export type Deletion = 'deleted' | 'absent';
