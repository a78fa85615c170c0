import type { LoadBalancerPlan } from './plan-project.ts';
import type { Applied } from './plan-target.ts';
import type { Translation } from './translate.ts';

/** What a cycle has seen and done, counted as it goes. */
export class CycleReport {
  /** Projects that the cloud lists, how many of them are done with, failed, or were left out. */
  projects = 0;
  read = 0;
  failed = 0;
  skipped = 0;
  /** Load balancers in the cloud, as Services, and those of which something was refused. */
  loadBalancers = 0;
  replicated = 0;
  invalid = 0;
  /** Members behind listeners in the cloud; what became of them. */
  readonly endpoints = { upstream: 0, replicated: 0, invalid: 0, ready: 0 };
  /** Writes that failed for reasons that may pass. */
  failures = 0;
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

  count({ translation }: LoadBalancerPlan): void {
    if (translation === undefined) return;
    this.loadBalancers += 1;
    const { all, ready, refused } = countEndpoints(translation);
    this.endpoints.upstream += all + refused;
    this.endpoints.invalid += refused;
    this.endpoints.ready += ready;
  }

  settle(plan: LoadBalancerPlan, applied: Applied | undefined): void {
    const refused = [...plan.problems, ...(applied?.problems ?? [])].some(
      ({ severity }) => severity === 'refusal',
    );
    const failures = applied?.failures.length ?? 0;
    this.failures += failures;
    if (refused) this.invalid += 1;
    if (failures > 0 || (applied?.problems.length ?? 0) > 0) return;
    this.written += plan.writes.length;
    this.removed += plan.removals.length;
    if (plan.translation === undefined) return;
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
