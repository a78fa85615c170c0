/** Why the controller reconciles a Service again, beside a change of the Service itself. */
export type ReconcileReason =
  | 'its endpoints changed'
  | 'the nodes changed'
  | 'its KuryrLoadBalancer changed'
  | 'a change of its load balancer ended'
  | 'the cloud differs from the desired state';

type Consumer = (key: string, reason: ReconcileReason) => void;

/**
 * The one place where watches, waits and checks add the Services to reconcile. The running provider passes
 * them on to the work queue of the Service controller. Before it runs, every Service is to be reconciled
 * anyway, so nothing is kept.
 */
export class ReconcileReasons {
  #consumer: Consumer | undefined;

  add(key: string, reason: ReconcileReason): void {
    this.#consumer?.(key, reason);
  }

  /** Returns a function that ends the connection. */
  connect(consumer: Consumer): () => void {
    this.#consumer = consumer;
    return () => {
      if (this.#consumer === consumer) this.#consumer = undefined;
    };
  }
}
