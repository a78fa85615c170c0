import type { ClusterView } from './cluster-view.ts';
import { describePlan } from './describe-plan.ts';
import type { LoadBalancerPlan } from './plan-project.ts';
import type { Applied, PlanTarget } from './plan-target.ts';
import type { Problem } from './problem.ts';

export interface DryRunOptions {
  readonly view: ClusterView;
  readonly createNamespaces: boolean;
  readonly print: (text: string) => void;
}

/** Prints what would change and changes nothing. */
export class DryRunTarget implements PlanTarget {
  readonly #options: DryRunOptions;
  readonly #created = new Set<string>();

  constructor(options: DryRunOptions) {
    this.#options = options;
  }

  async prepareNamespace(namespace: string, projectName: string): Promise<Problem | undefined> {
    const { view, createNamespaces, print } = this.#options;
    if (view.namespaces.get(namespace) !== undefined || this.#created.has(namespace)) {
      return undefined;
    }
    if (!createNamespaces) {
      const message = `project ${JSON.stringify(projectName)}: there is no namespace ${namespace}`;
      print(`! ${message}\n`);
      return { severity: 'refusal', reason: 'NamespaceMissing', message };
    }
    this.#created.add(namespace);
    print(`+ namespaces/${namespace}\n`);
    return undefined;
  }

  async apply(plan: LoadBalancerPlan): Promise<Applied> {
    this.#options.print(describePlan(plan));
    return { service: undefined, problems: [], failures: [] };
  }

  hold(plans: readonly LoadBalancerPlan[], why: string): void {
    const { print } = this.#options;
    print(`! not without --confirm or three cycles that agree, because ${why}:\n`);
    for (const plan of plans) print(describePlan(plan).replaceAll(/^(?=.)/gm, '!   '));
  }
}
