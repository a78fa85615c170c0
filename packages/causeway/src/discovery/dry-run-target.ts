import { endpoints } from '@causeway/kubernetes/objects/resources';
import type { ClusterView } from './cluster-view.ts';
import { describePlan } from './describe-plan.ts';
import { goingAway } from './namespace-phase.ts';
import type { LoadBalancerPlan, Write } from './plan-project.ts';
import { nothingApplied, type Applied, type PlanTarget, type Prepared } from './plan-target.ts';
import type { Problem } from './problem.ts';
import { readAgain, type TakenNameOptions } from './taken-name.ts';

export interface DryRunOptions extends TakenNameOptions {
  readonly view: ClusterView;
  readonly createNamespaces: boolean;
  readonly print: (text: string) => void;
}

/** Prints the changes without making them. */
export class DryRunTarget implements PlanTarget {
  readonly #options: DryRunOptions;
  readonly #created = new Set<string>();

  constructor(options: DryRunOptions) {
    this.#options = options;
  }

  async prepareNamespace(namespace: string, projectName: string): Promise<Prepared> {
    const { view, createNamespaces, print } = this.#options;
    const known = view.namespaces.get(namespace);
    if (known !== undefined) {
      const problem = goingAway(known);
      if (problem !== undefined) print(`! ${problem.message}\n`);
      return { problem, isCreated: false };
    }
    if (this.#created.has(namespace)) return { problem: undefined, isCreated: false };
    if (!createNamespaces) {
      const message = `project ${JSON.stringify(projectName)}: there is no namespace ${namespace}`;
      print(`! ${message}\n`);
      const problem = { severity: 'refusal', reason: 'NamespaceMissing', message } as const;
      return { problem, isCreated: false };
    }
    this.#created.add(namespace);
    print(`+ namespaces/${namespace}\n`);
    return { problem: undefined, isCreated: true };
  }

  async apply(plan: LoadBalancerPlan, signal: AbortSignal): Promise<Applied> {
    const problems: Problem[] = [];
    const writes: Write[] = [];
    for (const write of plan.writes) {
      const finding = await this.#checkWrite(write, writes, signal);
      if (finding.kind === 'taken') problems.push(finding.problem);
      else if (finding.kind === 'write') writes.push(finding.write);
    }
    const isDone = problems.length === 0;
    const done = {
      ...plan,
      writes: isDone ? writes : [],
      removals: isDone ? plan.removals : [],
      problems: [...plan.problems, ...problems],
    };
    this.#options.print(describePlan(done));
    const { length: written } = done.writes;
    const { length: removed } = done.removals;
    return { service: undefined, written, removed, problems, failures: [] };
  }

  /** The whole plan is printed after the decision. */
  async applyInterim(): Promise<Applied> {
    return nothingApplied;
  }

  /** A new object may conflict with a foreign object, which is not watched. */
  async #checkWrite(write: Write, earlier: readonly Write[], signal: AbortSignal) {
    if (write.verb !== 'create') return { kind: 'write', write } as const;
    const finding = await readAgain(write, this.#options, signal);
    // The object still exists, but will be deleted together with the Service by then.
    const goesBefore =
      write.resource === endpoints && earlier.some(({ verb }) => verb === 'replace');
    return finding.kind === 'right' && goesBefore ? ({ kind: 'write', write } as const) : finding;
  }

  hold(plans: readonly LoadBalancerPlan[], why: string): void {
    const { print } = this.#options;
    print(`! not without --confirm or three cycles that agree, because ${why}:\n`);
    for (const plan of plans) print(describePlan(plan).replaceAll(/^(?=.)/gm, '!   '));
  }
}
