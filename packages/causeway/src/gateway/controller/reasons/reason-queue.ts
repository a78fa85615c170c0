import { WakeUp } from '@causeway/base/work/wake-up';
import type { FrontendKey } from '../../protocol/frontend.ts';

/**
 * A fact that can require work of the gateway controller. A reason says what has changed and what it concerns,
 * never what to do: `decide-work.ts` decides that.
 */
export type Reason =
  /** A gateway has answered or failed to answer, or its link knows more about it. */
  | { readonly kind: 'gateway-answered' }
  /** A gateway has sent its status, or its status stream has ended. */
  | { readonly kind: 'gateway-status'; readonly gateway: string }
  /** A gateway has a newer generation from another source, so the desired state got a higher one. */
  | { readonly kind: 'generation-raised' }
  /** A gateway starts or stops rejecting the frontend. */
  | { readonly kind: 'rejection-changed'; readonly frontend: FrontendKey }
  /** Running connections of the frontend are no longer failover-safe, or are again. */
  | { readonly kind: 'failover-safety-changed'; readonly frontend: FrontendKey }
  /** An operator has allowed a gateway to remove the frontend. */
  | { readonly kind: 'removal-allowed'; readonly frontend: FrontendKey }
  /** The withheld removals of the gateways have new verdicts. */
  | { readonly kind: 'removals-verified' }
  /** A gateway was fenced or unfenced, or the network lets it use more addresses. */
  | { readonly kind: 'fences-changed' }
  /** The requests of operators in the ConfigMap may have changed. */
  | { readonly kind: 'fence-requests-changed' }
  /** A served Service waits until the network lets the gateways use its address. */
  | { readonly kind: 'address-blocked' }
  /** An address, a port or a sharing group may have become free. */
  | { readonly kind: 'address-freed' }
  /** The ports of this owner (a UID) have changed without its own reconcile. */
  | { readonly kind: 'ports-changed'; readonly owner: string }
  /** The known ports were compared with those of the port manager. */
  | { readonly kind: 'ports-compared' }
  /** An EndpointSlice of the Service has changed. */
  | { readonly kind: 'endpoints-changed'; readonly service: string }
  | { readonly kind: 'nodes-changed' }
  /** Network policies or pods of the namespace have changed. */
  | { readonly kind: 'policies-changed'; readonly namespace: string };

export type ReasonKind = Reason['kind'];

/** The part of the queue for components that publish facts. */
export type ReasonSink = Pick<ReasonQueue, 'add'>;

/**
 * The reasons for work that the loop has not taken yet. Equal reasons count once. The queue has no references
 * to other components, so every component can get it at its creation.
 */
export class ReasonQueue {
  readonly #reasons = new Map<string, Reason>();
  readonly #wakeUp = new WakeUp();

  add(reason: Reason): void {
    this.#reasons.set(Object.values(reason).join(' '), reason);
    this.#wakeUp.call();
  }

  /** Takes all reasons, oldest first. */
  take(): readonly Reason[] {
    const taken = [...this.#reasons.values()];
    this.#reasons.clear();
    return taken;
  }

  /** Resolves when there are reasons, or when the signal fires. */
  async next(signal: AbortSignal): Promise<void> {
    while (this.#reasons.size === 0 && !signal.aborted) await this.#wakeUp.next(signal);
  }
}
