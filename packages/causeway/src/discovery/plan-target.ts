import type { KubeObject } from '@causeway/kubernetes/objects/object';
import type { LoadBalancerPlan } from './plan-project.ts';
import type { Problem } from './problem.ts';

/** Result of a plan. */
export interface Applied {
  /** The Service as written, if it was. */
  readonly service: KubeObject | undefined;
  /** Objects that were actually created or changed, and deleted. */
  readonly written: number;
  readonly removed: number;
  readonly problems: readonly Problem[];
  /** Temporary failures; the next cycle tries again. */
  readonly failures: readonly Error[];
}

/** Whether objects can be created in a namespace. */
export interface Prepared {
  readonly problem: Problem | undefined;
  readonly isCreated: boolean;
}

/** Target of plans: the cluster, or the output of a dry run. */
export interface PlanTarget {
  prepareNamespace(namespace: string, projectName: string, signal: AbortSignal): Promise<Prepared>;
  apply(plan: LoadBalancerPlan, signal: AbortSignal): Promise<Applied>;
  /** Applies the writes that need no decision about losses. */
  applyInterim(plan: LoadBalancerPlan, signal: AbortSignal): Promise<Applied>;
  /** These plans are not applied for now, for this reason. */
  hold(plans: readonly LoadBalancerPlan[], why: string): void;
}

export const nothingApplied: Applied = {
  service: undefined,
  written: 0,
  removed: 0,
  problems: [],
  failures: [],
};
