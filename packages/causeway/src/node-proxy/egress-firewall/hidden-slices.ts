import type { Metrics } from '@causeway/base/observability/metrics';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf, nameFromKey } from '@causeway/kubernetes/objects/object';
import type { HiddenJudgement } from './judge.ts';
import { egressJudgements, hiddenSlices } from './metric-definitions.ts';
import type { RestrictedSlices } from './restrict-slices.ts';

/** Records a hidden slice as an Event of its Service. */
export type ReportHidden = (service: Service, message: string) => void;

/** Counts the slices that the egress firewall hides, and reports each of them once for each reason. */
export class HiddenSlices {
  readonly #report: ReportHidden;
  readonly #gauge;
  readonly #changes;
  /** By Service, then by slice. Only Services with hidden slices have an entry. */
  readonly #hidden = new Map<string, ReadonlyMap<string, HiddenJudgement>>();
  /** The number of slices that each rule hides, by namespace and rule. */
  readonly #counts = new Map<string, number>();

  constructor(report: ReportHidden, metrics: Metrics) {
    this.#report = report;
    this.#gauge = metrics.gauge(hiddenSlices);
    this.#changes = metrics.counter(egressJudgements);
  }

  note(key: string, service: Service | undefined, { shown, hidden }: RestrictedSlices): void {
    const before = this.#hidden.get(key);
    if (before === undefined && hidden.length === 0) return;
    const { namespace = '' } = nameFromKey(key);
    for (const { rule } of before?.values() ?? []) this.#count(namespace, rule, -1);
    for (const slice of shown) {
      if (before?.has(keyOf(slice)) === true) this.#changes.add({ namespace, verdict: 'shown' });
    }
    const after = new Map<string, HiddenJudgement>();
    for (const { slice, judgement } of service === undefined ? [] : hidden) {
      const known = before?.get(keyOf(slice));
      after.set(keyOf(slice), judgement);
      this.#count(namespace, judgement.rule, 1);
      if (known === undefined) this.#changes.add({ namespace, verdict: 'hidden' });
      if (service === undefined || known?.because === judgement.because) continue;
      const { address, because } = judgement;
      const name = slice.metadata?.name ?? '';
      this.#report(
        service,
        `The endpoints of the EndpointSlice ${name} are not used: ${address} is denied by ${because}.`,
      );
    }
    if (after.size === 0) this.#hidden.delete(key);
    else this.#hidden.set(key, after);
  }

  #count(namespace: string, rule: string, change: number): void {
    const id = `${namespace} ${rule}`;
    const count = (this.#counts.get(id) ?? 0) + change;
    if (count > 0) {
      this.#counts.set(id, count);
      this.#gauge.set({ namespace, rule }, count);
    } else {
      this.#counts.delete(id);
      this.#gauge.remove({ namespace, rule });
    }
  }
}
