import { keyOf } from '@causeway/kubernetes/objects/object';
import type { ProviderContext } from '../services/provider.ts';
import type { Applied } from './apply-plan.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';

interface Refused {
  readonly generation: number | undefined;
  readonly skipped: Set<string>;
  readonly left: Set<string>;
}

/**
 * Parts that Octavia does not support (501) for a KuryrLoadBalancer. They are not requested again until its
 * spec changes.
 */
export class RefusedParts {
  readonly #refused = new Map<string, Refused>();

  /** Names of listeners that can't be created. */
  skipped(klb: KuryrLoadBalancer): ReadonlySet<string> {
    return this.#of(klb).skipped;
  }

  /** Parts of listeners that can't be changed, by `partName`. */
  left(klb: KuryrLoadBalancer): ReadonlySet<string> {
    return this.#of(klb).left;
  }

  record(klb: KuryrLoadBalancer, { unsupported, left }: Applied, context: ProviderContext): void {
    const refused = this.#of(klb);
    for (const [name, why] of unsupported) {
      context.recordEvent('KuryrSkipListener', `The listener ${name} is not created: ${why}`);
      refused.skipped.add(name);
    }
    for (const [part, why] of left) {
      context.recordEvent('OptionUnsupported', `The ${part} stays unchanged: ${why}`);
      refused.left.add(part);
    }
    this.#refused.set(keyOf(klb), refused);
  }

  drop(key: string): void {
    this.#refused.delete(key);
  }

  #of(klb: KuryrLoadBalancer): Refused {
    const generation = klb.metadata?.generation;
    const known = this.#refused.get(keyOf(klb));
    if (known?.generation === generation && known !== undefined) return known;
    return { generation, skipped: new Set(), left: new Set() };
  }
}
