import { diff } from '../nftables/diff.ts';
import type { Driver } from '../nftables/driver.ts';
import type { LayoutChange } from '../nftables/layout-change.ts';
import { Layout } from '../nftables/layout.ts';
import { isEmpty } from '../nftables/transaction.ts';
import type { LayoutSettings } from '../nftables/virtual-service.ts';
import { CausewayError } from '../domain/error.ts';
import { ElementCount } from './element-count.ts';
import type { EndpointId } from './model/endpoint.ts';
import type { Committed, RulesetWriter, WholeLayout } from './apply/ruleset-writer.ts';

/** Writes the kernel's rules by the engine: what is wanted is planned as data, then committed at once. */
export class EngineRuleset implements RulesetWriter {
  readonly #driver: Driver;
  readonly #settings: LayoutSettings;
  #layout: Layout | undefined;
  #count = new ElementCount();

  constructor(driver: Driver, settings: LayoutSettings) {
    this.#driver = driver;
    this.#settings = settings;
  }

  async commit(change: LayoutChange, signal: AbortSignal): Promise<Committed> {
    if (this.#layout === undefined) {
      throw new CausewayError('internal', 'a change was committed before there was a whole');
    }
    const plan = this.#layout.plan(change);
    const wrote = !isEmpty(plan.transaction);
    if (wrote) await this.#driver.apply(plan.transaction, signal);
    plan.accept();
    this.#count.committed(plan.transaction.operations);
    return { wrote, removedEndpoints: plan.removedEndpoints };
  }

  /** Looks at what an earlier process left, once, and writes only what is different. */
  async replaceAll(whole: WholeLayout, signal: AbortSignal): Promise<Committed> {
    const { set, ...parts } = whole;
    const { layout, plan } = Layout.plan({ settings: this.#settings, services: set, ...parts });
    plan.accept();
    const present = await this.#driver.read(signal);
    const transaction = diff(present, layout.ruleset());
    const wrote = !isEmpty(transaction);
    if (wrote) await this.#driver.apply(transaction, signal);
    this.#layout = layout;
    this.#count = new ElementCount();
    this.#count.committed(plan.transaction.operations);
    return { wrote, removedEndpoints: [] };
  }

  /** How many elements the table holds. */
  get elements(): number {
    return this.#count.total;
  }

  /** Endpoints whose running connections may not survive a move to another gateway. */
  notFailoverSafe(): EndpointId[] {
    const keys = new Set(
      this.#layout?.ambiguousEndpoints().flatMap(({ services }) => services) ?? [],
    );
    const unsafe: EndpointId[] = [];
    for (const key of keys) {
      const service = this.#layout?.services.get(key);
      if (service !== undefined) unsafe.push(service);
    }
    return unsafe;
  }
}
