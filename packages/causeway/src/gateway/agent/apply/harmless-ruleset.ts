import type { LayoutChange } from '@causeway/nftables/compile/layout-change';
import { serviceKey, type VirtualService } from '@causeway/nftables/compile/virtual-service';
import type { Log } from '@causeway/base/observability/log';
import { whyHarmful, type ServableAddresses } from './servable.ts';
import type { Committed, RulesetWriter, WholeLayout } from './ruleset-writer.ts';

/**
 * Writes no rules for an address that is already in use, for example by a gateway. Updates with such an
 * address are rejected, but an older version may have stored one, or the settings may have changed. Its rules
 * would cut off the gateway itself. The stored state stays unchanged, so that correcting the settings is
 * enough.
 */
export class HarmlessRuleset implements RulesetWriter {
  readonly #inner: RulesetWriter;
  readonly #taken: ServableAddresses['taken'];
  readonly #log: Log;

  constructor(inner: RulesetWriter, taken: ServableAddresses['taken'], log: Log) {
    this.#inner = inner;
    this.#taken = taken;
    this.#log = log;
  }

  commit(change: LayoutChange, signal: AbortSignal): Promise<Committed> {
    const { set } = change;
    return this.#inner.commit(
      set === undefined ? change : { ...change, set: this.#harmless(set) },
      signal,
    );
  }

  replaceAll(layout: WholeLayout, signal: AbortSignal): Promise<Committed> {
    return this.#inner.replaceAll({ ...layout, set: this.#harmless(layout.set) }, signal);
  }

  #harmless(services: readonly VirtualService[]): VirtualService[] {
    return services.filter((service) => {
      const why = whyHarmful(this.#taken, service.address);
      if (why !== undefined) {
        this.#log.warn(
          { frontend: serviceKey(service), why },
          'no rules are written for a frontend',
        );
      }
      return why === undefined;
    });
  }
}
