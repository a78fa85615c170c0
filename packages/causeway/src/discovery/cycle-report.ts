import type { LoadBalancerPlan } from './plan-project.ts';
import { nothingApplied, type Applied } from './plan-target.ts';
import type { Translation } from './translate.ts';

/** Results of a cycle, counted while it runs. */
export class CycleReport {
  /** Projects that the cloud lists, and how many of them are done, failed, or left out. */
  projects = 0;
  read = 0;
  failed = 0;
  skipped = 0;
  /** Load balancers in the cloud, those with Services, and those with a refused part. */
  loadBalancers = 0;
  replicated = 0;
  invalid = 0;
  /** Members behind listeners in the cloud, and their results. */
  readonly endpoints = { upstream: 0, replicated: 0, invalid: 0, ready: 0 };
  /** Load balancers with objects that the cluster refused, or that are not fully visible. */
  refused = 0;
  /** Writes that failed for temporary reasons. */
  failures = 0;
  /** Objects that were actually written and deleted, including namespaces. */
  written = 0;
  removed = 0;
  held = 0;

  get isComplete(): boolean {
    return this.failed === 0 && this.failures === 0;
  }

  failProject(): void {
    this.failed += 1;
  }

  skipProject(): void {
    this.skipped += 1;
  }

  count({ translation, isUpstream }: LoadBalancerPlan): void {
    if (isUpstream) this.loadBalancers += 1;
    if (translation === undefined) return;
    const { all, ready, refused } = countEndpoints(translation);
    this.endpoints.upstream += all + refused;
    this.endpoints.invalid += refused;
    this.endpoints.ready += ready;
  }

  settle(plan: LoadBalancerPlan, applied: Applied = nothingApplied): void {
    const { problems, failures, written, removed } = applied;
    const all = [...plan.problems, ...problems];
    if (all.some(({ severity }) => severity === 'refusal')) this.invalid += 1;
    this.failures += failures.length;
    this.written += written;
    this.removed += removed;
    const isUnclear = plan.isUpstream && plan.translation === undefined;
    if (problems.length > 0 || isUnclear) this.refused += 1;
    if (failures.length > 0 || problems.length > 0 || plan.translation === undefined) return;
    if (!plan.hasService) return;
    this.replicated += 1;
    this.endpoints.replicated += countEndpoints(plan.translation).all;
  }
}

function countEndpoints({ ports, problems }: Translation) {
  let all = 0;
  let ready = 0;
  for (const { groups } of ports) {
    for (const { endpoints } of groups) {
      all += endpoints.length;
      for (const { isReady } of endpoints) ready += isReady ? 1 : 0;
    }
  }
  const refused = problems.filter(({ reason }) => reason === 'AddressRefused').length;
  return { all, ready, refused };
}
