import { CausewayError } from '@causeway/base/error/causeway-error';
import { diff } from '../plan/diff.ts';
import type { Driver } from '../drivers/driver.ts';
import type { LayoutChange, RemovedEndpoint } from './layout-change.ts';
import { Layout } from './layout.ts';
import { isEmpty, type Operation } from '../model/transaction.ts';
import type { LayoutInput, LayoutSettings } from './virtual-service.ts';

/** What a commit brought about. */
export interface CommittedLayout {
  /** False where there was nothing to write. */
  readonly wrote: boolean;
  readonly removedEndpoints: readonly RemovedEndpoint[];
  /** From the layout as it was; after `replaceAll`, from nothing. */
  readonly operations: readonly Operation[];
}

/** Keeps one table of the kernel as a layout says. Each change is one atomic commit. */
export class LayoutWriter {
  readonly #driver: Driver;
  readonly #settings: LayoutSettings;
  #layout: Layout | undefined;

  constructor(driver: Driver, settings: LayoutSettings) {
    this.#driver = driver;
    this.#settings = settings;
  }

  /** What is in force; undefined before the first `replaceAll`. */
  get layout(): Layout | undefined {
    return this.#layout;
  }

  /** All or nothing. Throws with the kernel as it was. */
  async commit(change: LayoutChange, signal: AbortSignal): Promise<CommittedLayout> {
    if (this.#layout === undefined) {
      throw new CausewayError('internal', 'a change was committed before there was a whole');
    }
    const plan = this.#layout.plan(change);
    const { transaction, removedEndpoints } = plan;
    const wrote = !isEmpty(transaction);
    if (wrote) await this.#driver.apply(transaction, signal);
    plan.accept();
    return { wrote, removedEndpoints, operations: transaction.operations };
  }

  /** Looks at what an earlier process left, once, and writes only what is different. */
  async replaceAll(
    input: Omit<LayoutInput, 'settings'>,
    signal: AbortSignal,
  ): Promise<CommittedLayout> {
    const { layout, plan } = Layout.plan({ settings: this.#settings, ...input });
    plan.accept();
    const transaction = diff(await this.#driver.read(signal), layout.ruleset());
    const wrote = !isEmpty(transaction);
    if (wrote) await this.#driver.apply(transaction, signal);
    this.#layout = layout;
    return { wrote, removedEndpoints: [], operations: plan.transaction.operations };
  }
}
