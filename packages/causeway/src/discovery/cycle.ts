import { CausewayError } from '@causeway/base/error/causeway-error';
import { keyOf, type KubeObject, type ObjectReference } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { endpoints, endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import type { Cloud } from '@causeway/openstack/cloud';
import { collect } from '@causeway/openstack/collect';
import { areCredentialsInvalid } from '@causeway/openstack/error';
import { openLoadBalancing } from '@causeway/openstack/load-balancing/open';
import type { Project, Session } from '@causeway/openstack/session';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import { runTogether } from '@causeway/base/work/run-together';
import { assignNamespaces } from './assign-namespaces.ts';
import type { ClusterView } from './cluster-view.ts';
import type { CurrentObjects } from './content.ts';
import {
  aboutNamespace,
  deletionsHeld,
  discovered,
  projectFailed,
  projectUnknown,
  whyHeld,
} from './cycle-problems.ts';
import { CycleReport } from './cycle-report.ts';
import { gatherProject } from './gather-project.ts';
import type { Held, LossGuard, LossReport } from './loss-guard.ts';
import { labelKey } from './names.ts';
import { sourcesOf } from './ownership.ts';
import {
  planEdited,
  planProject,
  type LoadBalancerPlan,
  type TranslationOptions,
} from './plan-project.ts';
import type { PlanTarget } from './plan-target.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import type { ProjectOrder } from './project-order.ts';
import type { ProjectTree } from './project-tree.ts';
import { chooseProjects, type ProjectChoice } from './project-choice.ts';

export interface CycleOptions extends TranslationOptions {
  readonly choice: ProjectChoice;
  readonly namespaceTemplate: string;
  /** Number of projects processed concurrently. */
  readonly workers: number;
  /** Time limit for reading one project. */
  readonly projectMs: number;
}

export interface CycleParts {
  readonly options: CycleOptions;
  readonly cloud: Cloud;
  readonly view: ClusterView;
  readonly target: PlanTarget;
  readonly guard: LossGuard;
  readonly order: ProjectOrder;
  readonly reporter: ProblemReporter;
  /** The object of Events about the whole backend. */
  readonly about: ObjectReference;
  readonly clock: Clock;
  readonly log: Log;
}

const progressEveryMs = 10_000;

/**
 * For each worker. In an outage of the cloud every project would fail at its own deadline, for hours. The
 * next cycle detects the recovery sooner, and begins with the remaining projects.
 */
const mostFailuresInARow = 3;

interface ListedProject extends Project {
  readonly namespace: string;
}

/** One reading of a cloud and the resulting changes. */
export class Cycle {
  readonly #parts: CycleParts;
  readonly #report = new CycleReport();
  readonly #losses: LossReport[] = [];
  /** Listed but not read: disabled, or not to be discovered. Their objects stay. */
  readonly #kept = new Set<string>();
  /** Objects that plans create. If such an object exists already, only its marks were wrong. */
  readonly #needed = new Set<string>();
  readonly #lost = new Map<string, LoadBalancerPlan>();
  /** For messages about projects, by their id as labels carry it. */
  readonly #namespaces = new Map<string, string>();
  /** By namespace. */
  readonly #projectNames = new Map<string, string>();
  #loggedAt: number;
  #failedInARow = 0;
  #hasRead = false;

  constructor(parts: CycleParts) {
    this.#parts = parts;
    this.#loggedAt = parts.clock.monotonic();
  }

  /** Throws only if nothing of the backend could be read, or if its credentials are refused. */
  async run(isConfirmed: boolean, signal: AbortSignal): Promise<CycleReport> {
    const { options, guard, view, order } = this.#parts;
    const { backend, workers } = options;
    const listed = await this.#listProjects(isConfirmed, signal);
    this.#report.projects = listed.length;
    // Read before any write.
    const holdings = view.holdings(backend);
    const present = view.projects(backend);
    const edited = view.edited(backend);
    await runTogether(order.arrange(listed), workers, (project) =>
      this.#oneProject(project, signal),
    );
    this.#findRemovedProjects(present, listed);
    this.#findUnneeded(edited);
    const verdict = guard.judge(this.#losses, holdings, isConfirmed);
    const released = [...verdict.released].flatMap((id) => this.#lost.get(id) ?? []);
    const byNamespace = Map.groupBy(released, ({ place }) => place.namespace);
    await runTogether([...byNamespace], workers, ([namespace, plans]) =>
      this.#release(namespace, plans, signal),
    );
    for (const held of verdict.held) this.#reportHeld(held);
    return this.#report;
  }

  async #listProjects(isConfirmed: boolean, signal: AbortSignal): Promise<ListedProject[]> {
    const { cloud, options, view, reporter, about } = this.#parts;
    const { backend, choice, namespaceTemplate: template } = options;
    const all = await collect(cloud.projects({ signal }));
    const { projectId } = isForOneProject(cloud)
      ? await cloud.session().authenticate({ signal })
      : { projectId: undefined };
    const isOpen = ({ id }: Project) => projectId === undefined || id === projectId;
    const { open, disabled, leftOut, unknown } = chooseProjects(all, choice, isOpen);
    for (const name of unknown) reporter.report(about, projectUnknown(backend, name));
    // If no project is chosen, the choice itself is wrong.
    const staying = isConfirmed && open.length > 0 ? [] : leftOut;
    for (const { id } of [...disabled, ...staying]) this.#kept.add(labelKey(id));
    const namespaces = assignNamespaces(open, {
      backend,
      template,
      residents: view.residents(backend),
    });
    return open.map((project) => {
      const namespace = namespaces.get(project.id) ?? '';
      this.#namespaces.set(labelKey(project.id), namespace);
      this.#projectNames.set(namespace, project.name);
      return { ...project, namespace };
    });
  }

  async #oneProject(project: ListedProject, signal: AbortSignal): Promise<void> {
    if (this.#isUnreachable()) {
      this.#report.failProject();
      return;
    }
    let isRead = false;
    try {
      const tree = await this.#gather(project, signal);
      isRead = true;
      this.#failedInARow = 0;
      this.#hasRead = true;
      await this.#settle(project, tree, signal);
    } catch (thrown) {
      if (signal.aborted || areCredentialsInvalid(thrown)) throw thrown;
      const error = CausewayError.from(thrown);
      // A failure of Kubernetes does not mean that the cloud is unreachable.
      if (!isRead && isUnreachable(error)) this.#noteUnreachable(project, error);
      this.#failProject(project, error);
    }
    this.#logProgress();
  }

  #failProject({ id, name, namespace }: ListedProject, error: CausewayError): void {
    const { log, reporter, options } = this.#parts;
    this.#report.failProject();
    log.warn({ project: name, projectId: id, error }, 'project failed; none of its objects change');
    if (this.#isUnreachable())
      log.warn({}, 'the cloud is unreachable; the next cycle begins with the remaining projects');
    const problem = projectFailed(options.backend, { id, name }, error);
    reporter.report(aboutNamespace(namespace), problem);
  }

  #noteUnreachable({ id }: ListedProject, error: CausewayError): void {
    this.#failedInARow += 1;
    if (!this.#isUnreachable()) return;
    this.#parts.order.endedAt(id);
    if (this.#hasRead) return;
    this.#report.failProject();
    throw new CausewayError(
      error.code,
      `${this.#failedInARow} projects failed in a row, the last one with: ${error.message}`,
      { cause: error, ...(error.hint === undefined ? {} : { hint: error.hint }) },
    );
  }

  #isUnreachable(): boolean {
    return this.#failedInARow >= mostFailuresInARow * this.#parts.options.workers;
  }

  #gather(project: Project, signal: AbortSignal): Promise<ProjectTree> {
    const { cloud, clock, options } = this.#parts;
    const what = `reading project ${JSON.stringify(project.name)} (one with many pools may need more projectSeconds)`;
    return withDeadline(clock, options.projectMs, signal, what, async (inner) => {
      const call = { signal: inner, deadlineMs: options.projectMs };
      const session = sessionIn(cloud, project.id);
      const balancing = await openLoadBalancing(session, call, { givenNeutronWins: true });
      return gatherProject(balancing, project.id, call);
    });
  }

  async #settle(project: ListedProject, tree: ProjectTree, signal: AbortSignal): Promise<void> {
    const { options, view } = this.#parts;
    const { namespace } = project;
    const current = view.current(options.backend, labelKey(project.id));
    const plans = planProject({ project, namespace, tree }, current, options);
    for (const plan of plans) {
      this.#report.count(plan);
      for (const { verb, resource, wanted } of plan.writes) {
        if (verb === 'create') this.#needed.add(`${resource.kind} ${keyOf(wanted)}`);
      }
    }
    const safe = plans.filter(({ loss }) => loss === undefined);
    if (!(await this.#prepare(namespace, safe, signal))) return;
    for (const plan of safe) await this.#apply(plan, signal);
    for (const plan of plans) {
      if (plan.interim.length > 0) await this.#applyInterim(plan, signal);
    }
    this.#noteLosses(labelKey(project.id), plans);
  }

  /** Applies released plans in one namespace, which may still be missing for a renamed project. */
  async #release(
    namespace: string,
    plans: readonly LoadBalancerPlan[],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      if (!(await this.#prepare(namespace, plans, signal))) return;
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      this.#report.failures += 1;
      const error = CausewayError.from(thrown);
      this.#parts.log.warn({ namespace, error }, 'namespace failed; the next cycle tries again');
      return;
    }
    for (const plan of plans) await this.#apply(plan, signal);
  }

  /** Prepares the namespace if these plans write to it. Returns whether they may be applied. */
  async #prepare(
    namespace: string,
    plans: readonly LoadBalancerPlan[],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (plans.every(({ writes }) => writes.length === 0)) return true;
    const { target, reporter } = this.#parts;
    const projectName = this.#projectNames.get(namespace) ?? '';
    const prepared = await target.prepareNamespace(namespace, projectName, signal);
    this.#report.written += prepared.isCreated ? 1 : 0;
    if (prepared.problem === undefined) return true;
    this.#report.skipProject();
    reporter.report(aboutNamespace(namespace), prepared.problem);
    return false;
  }

  #noteLosses(projectId: string, plans: readonly LoadBalancerPlan[]): void {
    const lost = plans.flatMap((plan) => {
      const { id, loss } = plan;
      if (loss === undefined) return [];
      this.#lost.set(id, plan);
      return [{ id, loss }];
    });
    if (lost.length === 0) return;
    const staying = plans.filter(({ loss }) => loss === undefined);
    const leavesContent = plans.some(({ loss, hasContent }) => loss?.leavesContent ?? hasContent);
    const leaves = leavesContent ? 'content' : staying.length > 0 ? 'shells' : 'nothing';
    this.#losses.push({ projectId, lost, leaves });
  }

  /** Records the loss of projects that are no longer listed. */
  #findRemovedProjects(present: ReadonlySet<string>, listed: readonly ListedProject[]): void {
    const { options, view } = this.#parts;
    const known = new Set(listed.map(({ id }) => labelKey(id)));
    for (const projectId of present) {
      if (known.has(projectId) || this.#kept.has(projectId)) continue;
      const current = view.current(options.backend, projectId);
      const source = { project: { id: projectId, name: '' }, namespace: '', tree: noTree };
      const plans = planProject(source, current, options);
      this.#namespaces.set(projectId, plans[0]?.place.namespace ?? '');
      this.#noteLosses(projectId, plans);
    }
  }

  /**
   * Objects with edited marks that no plan needs. Skipped while a project failed, because they may belong to
   * it, and for objects that name a project that is not read.
   */
  #findUnneeded(edited: CurrentObjects): void {
    const { failed, skipped } = this.#report;
    if (failed + skipped > 0) return;
    const isKept = (object: KubeObject) =>
      sourcesOf(object).some(({ projectId }) => this.#kept.has(projectId));
    const left = <T extends KubeObject>(resource: Resource<T>, objects: readonly T[]) =>
      objects.filter((object) => !this.#isNeeded(resource, object) && !isKept(object));
    const plan = planEdited(this.#parts.options.backend, {
      services: left(services, edited.services),
      slices: left(endpointSlices, edited.slices),
      endpoints: left(endpoints, edited.endpoints),
    });
    if (plan === undefined) return;
    const projectId = 'unknown, by edited marks';
    this.#namespaces.set(projectId, plan.place.namespace);
    this.#noteLosses(projectId, [plan]);
  }

  #isNeeded(resource: Resource, object: KubeObject): boolean {
    return this.#needed.has(`${resource.kind} ${keyOf(object)}`);
  }

  async #apply(given: LoadBalancerPlan, signal: AbortSignal): Promise<void> {
    const { target, view, reporter } = this.#parts;
    const removals = given.removals.filter(
      ({ resource, actual }) => !this.#isNeeded(resource, actual),
    );
    const plan = { ...given, removals };
    const hasWork = plan.writes.length > 0 || plan.removals.length > 0;
    const applied = hasWork ? await target.apply(plan, signal) : undefined;
    const { namespace, name } = plan.place;
    const service = applied?.service ?? view.services.get(`${namespace}/${name}`);
    const uid = service?.metadata?.uid;
    const about = { apiVersion: 'v1', kind: 'Service', namespace, name, ...(uid ? { uid } : {}) };
    for (const problem of [...plan.problems, ...(applied?.problems ?? [])]) {
      reporter.report(about, problem);
    }
    if (
      plan.writes.some(({ verb, resource }) => verb === 'create' && resource.kind === 'Service')
    ) {
      if (applied?.service !== undefined) reporter.report(about, discovered(plan));
    }
    for (const error of applied?.failures ?? []) this.#logFailure(plan, error);
    this.#report.settle(plan, applied);
  }

  /** The plan is counted as a whole after the decision. */
  async #applyInterim(plan: LoadBalancerPlan, signal: AbortSignal): Promise<void> {
    const { written, failures } = await this.#parts.target.applyInterim(plan, signal);
    this.#report.written += written;
    this.#report.failures += failures.length;
    for (const error of failures) this.#logFailure(plan, error);
  }

  #logFailure({ place: { namespace, name } }: LoadBalancerPlan, error: Error): void {
    const fields = { service: `${namespace}/${name}`, error };
    this.#parts.log.warn(fields, 'write failed; the next cycle tries again');
  }

  #reportHeld(held: Held): void {
    const { reporter, log, options, target } = this.#parts;
    const { projectId, lost, agreements } = held;
    const namespace = this.#namespaces.get(projectId) ?? '';
    this.#report.held += lost.length;
    const why = whyHeld(held);
    log.warn(
      { projectId, namespace, loadBalancers: lost.length, agreements },
      `deletions are held: ${why}`,
    );
    target.hold(
      lost.flatMap((id) => this.#lost.get(id) ?? []),
      why,
    );
    reporter.report(aboutNamespace(namespace), deletionsHeld(options.backend, held));
  }

  #logProgress(): void {
    const { clock, log } = this.#parts;
    const now = clock.monotonic();
    this.#report.read += 1;
    if (now - this.#loggedAt < progressEveryMs) return;
    this.#loggedAt = now;
    const { read, projects, failed, loadBalancers } = this.#report;
    log.info({ projects: `${read} of ${projects}`, failed, loadBalancers }, 'reading the cloud');
  }
}

/** Any other failure is an answer and concerns this project only, such as a refused login. */
function isUnreachable({ code }: CausewayError): boolean {
  return code === 'unavailable' || code === 'timeout';
}

const noTree: ProjectTree = { loadBalancers: [], unclear: [] };

function isForOneProject(cloud: Cloud): boolean {
  return cloud.config.credentials.method === 'application-credential';
}

function sessionIn(cloud: Cloud, projectId: string): Session {
  return isForOneProject(cloud) ? cloud.session() : cloud.project(projectId);
}
