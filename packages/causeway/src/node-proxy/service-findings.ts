import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { BudgetExcess } from '@causeway/kubernetes/objects/service-budget';
import { serviceKey } from '@causeway/nftables/compile/virtual-service';
import type { LostTarget } from './owned-addresses.ts';
import { HiddenSlices, type ReportHidden } from './egress-firewall/hidden-slices.ts';
import { proxyMetrics } from './proxy-metrics.ts';
import type { ServicePlan } from './service-plan.ts';
import type { Translation } from './translate-service.ts';

/** Reports to the owners of Services. */
export interface FindingReports {
  /** Called when other Services hold addresses that a Service requests. */
  readonly reportLost?: (service: Service, lost: readonly LostTarget[]) => void;
  /** Called when a Service exceeds the budget; this node then serves nothing of it. */
  readonly reportExcess?: (service: Service, excess: BudgetExcess) => void;
  /** Called when the egress firewall hides endpoints of a Service. */
  readonly reportHidden?: ReportHidden;
}

/** Logs, counts and reports the parts of Services that are not served. Each finding is reported once. */
export class ServiceFindings {
  readonly #reports: FindingReports;
  readonly #log: Log;
  readonly #hidden: HiddenSlices;
  readonly #metrics;
  /** The lost targets of each Service, as last reported. */
  readonly #lost = new Map<string, string>();
  /** The Services that exceed the budget, with the reported message. */
  readonly #excess = new Map<string, string>();

  constructor(reports: FindingReports, log: Log, metrics: Metrics) {
    this.#reports = reports;
    this.#log = log;
    this.#hidden = new HiddenSlices(reports.reportHidden ?? (() => {}), metrics);
    this.#metrics = {
      lost: metrics.counter(proxyMetrics.lostTargets),
      refused: metrics.gauge(proxyMetrics.refusedServices),
    };
  }

  notePlan(key: string, { service, slices }: ServicePlan, translation: Translation): void {
    for (const problem of translation.problems) {
      this.#log.warn({ service: key, problem }, 'a part of a Service cannot be served');
    }
    this.#hidden.note(key, service, slices);
    this.#noteExcess(key, service, translation.excess);
  }

  /** Call this after a transaction, with the targets that another Service holds. */
  noteLost(key: string, service: Service | undefined, lost: readonly LostTarget[]): void {
    const found = lost.map(({ target, owner }) => `${serviceKey(target.virtual)} ${owner}`).join();
    if (found === (this.#lost.get(key) ?? '')) return;
    if (found === '') this.#lost.delete(key);
    else this.#lost.set(key, found);
    for (const { target, owner } of lost) {
      const { address, port } = target.virtual;
      this.#log.warn({ service: key, address, port, owner }, 'another Service has the address');
      this.#metrics.lost.add({});
    }
    if (service !== undefined && lost.length > 0) this.#reports.reportLost?.(service, lost);
  }

  #noteExcess(key: string, service: Service | undefined, excess: BudgetExcess | undefined): void {
    const reported = this.#excess.get(key);
    if (service === undefined || excess === undefined) this.#excess.delete(key);
    else if (reported !== excess.message) {
      this.#excess.set(key, excess.message);
      this.#log.warn({ service: key, excess: excess.message }, 'a Service is not served');
      this.#reports.reportExcess?.(service, excess);
    }
    this.#metrics.refused.set({}, this.#excess.size);
  }
}
