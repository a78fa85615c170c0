import type { KubeObject } from '@causeway/kubernetes/objects/object';
import type { LoadBalancerPlan } from './plan-project.ts';
import type { Problem } from './problem.ts';

/** What came of a plan. */
export interface Applied {
  /** The Service as it was written, if it was. */
  readonly service: KubeObject | undefined;
  /** Objects that were really created or changed, and deleted. */
  readonly written: number;
  readonly removed: number;
  readonly problems: readonly Problem[];
  /** What failed for reasons that pass by themselves; the next cycle tries again. */
  readonly failures: readonly Error[];
}

/** Whether a namespace can take objects. */
export interface Prepared {
  readonly problem: Problem | undefined;
  readonly isCreated: boolean;
}

/** Where plans go: the cluster, or the page that a dry run prints. */
export interface PlanTarget {
  prepareNamespace(namespace: string, projectName: string, signal: AbortSignal): Promise<Prepared>;
  apply(plan: LoadBalancerPlan, signal: AbortSignal): Promise<Applied>;
  /** What of it can be written before it is decided what may go. */
  applyInterim(plan: LoadBalancerPlan, signal: AbortSignal): Promise<Applied>;
  /** These are not applied for now, because of this. */
  hold(plans: readonly LoadBalancerPlan[], why: string): void;
}

export const nothingApplied: Applied = {
  service: undefined,
  written: 0,
  removed: 0,
  problems: [],
  failures: [],
};
