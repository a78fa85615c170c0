import {
  serviceKey,
  servingBackends,
  type ServiceKey,
} from '@causeway/nftables/compile/virtual-service';
import type { CheckedService } from '@causeway/nftables/conntrack/stale-entries';

/**
 * The UDP targets that this node serves, with the endpoints that keep their flows. A flow stays with its endpoint while
 * the endpoint serves, terminating or not, whatever traffic policies and topology hints select for new flows.
 */
export class UdpFlows {
  readonly #targets = new Map<ServiceKey, CheckedService>();

  get(key: ServiceKey): CheckedService | undefined {
    return this.#targets.get(key);
  }

  keys(): MapIterator<ServiceKey> {
    return this.#targets.keys();
  }

  /** Records the target. Returns whether conntrack may have entries that it no longer allows. */
  set(target: CheckedService): boolean {
    const key = serviceKey(target);
    const before = this.#targets.get(key);
    this.#targets.set(key, target);
    return before === undefined || mayHaveStaleEntries(before, target);
  }

  delete(key: ServiceKey): void {
    this.#targets.delete(key);
  }
}

/** Without an endpoint, packets were refused, or tracked without a rewritten destination. */
function mayHaveStaleEntries(before: CheckedService, after: CheckedService): boolean {
  const kept = keptBy(after);
  const held = keptBy(before);
  const hasLost = [...held].some((backend) => !kept.has(backend));
  return (
    hasLost || (held.size === 0 && kept.size > 0) || before.dispatch.kind !== after.dispatch.kind
  );
}

function keptBy(service: CheckedService): Set<string> {
  const backends = [...servingBackends(service), ...(service.serving ?? [])];
  return new Set(backends.map(({ address, port }) => `${address} ${port}`));
}
