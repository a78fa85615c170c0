import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { Owner, ProviderContext } from './provider.ts';

/** Records an Event on an owner once for as long as its message stays the same. */
export class OnceEvents {
  /** The last message, by the UID of the owner and the reason. */
  readonly #recorded = new Map<string, Map<EventReason, string>>();

  /** Without a message, the cause is over: the same message is recorded again when it comes back. */
  record(
    { uid }: Pick<Owner, 'uid'>,
    reason: EventReason,
    message: string | undefined,
    context: Pick<ProviderContext, 'recordEvent'>,
  ): void {
    const known = this.#recorded.get(uid);
    if (message === undefined) {
      known?.delete(reason);
      if (known?.size === 0) this.#recorded.delete(uid);
      return;
    }
    if (known?.get(reason) === message) return;
    if (known === undefined) this.#recorded.set(uid, new Map([[reason, message]]));
    else known.set(reason, message);
    context.recordEvent(reason, message);
  }

  forget({ uid }: Pick<Owner, 'uid'>): void {
    this.#recorded.delete(uid);
  }
}
