import { CausewayError } from '@causeway/base/error/causeway-error';
import { diff } from '../plan/diff.ts';
import type { Driver } from '../drivers/driver.ts';
import type { LayoutChange, Removed } from './layout-change.ts';
import { Layout } from './layout.ts';
import { isEmpty, type Operation } from '../model/transaction.ts';
import type { LayoutInput, LayoutSettings } from './virtual-service.ts';

/** Result of a commit. */
export interface CommittedLayout {
  /** False if there was nothing to write. */
  readonly wrote: boolean;
  readonly removedBackends: readonly Removed[];
  /** Relative to the previous layout; after `replaceAll`, relative to an empty one. */
  readonly operations: readonly Operation[];
}

/** Keeps one kernel table in the state of a layout. Each change is one atomic commit. */
export class LayoutWriter {
  readonly #driver: Driver;
  readonly #settings: LayoutSettings;
  #layout: Layout | undefined;

  constructor(driver: Driver, settings: LayoutSettings) {
    this.#driver = driver;
    this.#settings = settings;
  }

  /** The applied layout; undefined before the first `replaceAll`. */
  get layout(): Layout | undefined {
    return this.#layout;
  }

  /** Atomic. If it throws, the kernel is unchanged. */
  async commit(change: LayoutChange, signal: AbortSignal): Promise<CommittedLayout> {
    if (this.#layout === undefined) {
      throw new CausewayError('internal', 'commit() called before replaceAll()');
    }
    const plan = this.#layout.plan(change);
    const { transaction, removedBackends } = plan;
    const wrote = !isEmpty(transaction);
    if (wrote) await this.#driver.apply(transaction, signal);
    plan.accept();
    return { wrote, removedBackends, operations: transaction.operations };
  }

  /** Reads the table of an earlier process once, and writes only the differences. */
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
    return { wrote, removedBackends: [], operations: plan.transaction.operations };
  }
}
