import type { KubeObject } from '../kube/object.ts';
import type { LoadBalancerPlan } from './plan-project.ts';
import type { Problem } from './problem.ts';

/** What came of a plan. */
export interface Applied {
  /** The Service as it was written, if it was. */
  readonly service: KubeObject | undefined;
  readonly problems: readonly Problem[];
  /** What failed for reasons that pass by themselves; the next cycle tries again. */
  readonly failures: readonly Error[];
}

/** Where plans go: the cluster, or the page that a dry run prints. */
export interface PlanTarget {
  /** Undefined when the namespace can take objects, else why not. */
  prepareNamespace(
    namespace: string,
    projectName: string,
    signal: AbortSignal,
  ): Promise<Problem | undefined>;
  apply(plan: LoadBalancerPlan, signal: AbortSignal): Promise<Applied>;
  /** These are not applied for now, because of this. */
  hold(plans: readonly LoadBalancerPlan[], why: string): void;
}
