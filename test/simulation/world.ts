import { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import { Cloud } from '../../packages/openstack/src/cloud.ts';
import { cloudConfigFrom } from '../../packages/openstack/src/config/settings.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { noMetrics, type Metrics } from '../../packages/base/src/observability/metrics.ts';
import {
  Simulation,
  type SimulatedProcess,
} from '../../packages/base/src/simulation/simulation.ts';
import type { LeaseGuard } from '../../packages/base/src/work/lease-guard.ts';
import { InProcessKubernetes } from '../../packages/fake-kubernetes/src/in-process.ts';
import { accounts } from '../../packages/fake-openstack/src/seed.ts';
import {
  createInProcessOpenStack,
  type InProcessOpenStack,
} from '../../packages/fake-openstack/src/in-process.ts';
import type { EmbeddedOptions } from '../../packages/fake-openstack/src/settings.ts';
import { SimulatedKubernetesTransport, type Loss } from './kubernetes-transport.ts';
import { SimulatedOpenStackCarrier } from './openstack-carrier.ts';

export interface WorldOptions {
  /** How far time may advance while work is in progress; see Simulation. */
  readonly hasteMs?: number;
  readonly openstack?: Omit<EmbeddedOptions, 'clock'>;
  /** Counts the controllers' work, and their requests to Kubernetes. */
  readonly metrics?: Metrics;
}

/**
 * A cluster and a cloud inside a simulation. Processes are started, killed and restarted; the two stay. Time
 * is the simulation's, and every request to either is an outside call of its sender.
 */
export class SimulatedWorld {
  readonly simulation: Simulation;
  readonly kubernetes: InProcessKubernetes;
  readonly openstack: InProcessOpenStack;
  /** A user with kubectl: never killed, and part of the same order of events. */
  readonly user: KubeClient;
  readonly metrics: Metrics;
  /** The lost parts of future requests, by their labels; the user's are never lost. */
  lossOf: (label: string) => Loss = () => undefined;

  constructor(seed: number, options: WorldOptions = {}) {
    this.simulation = new Simulation(seed, options);
    this.metrics = options.metrics ?? noMetrics;
    const { clock, random } = this.simulation;
    this.kubernetes = new InProcessKubernetes({ clock, random });
    this.openstack = createInProcessOpenStack({ ...options.openstack, clock });
    const user = this.simulation.process('user');
    this.user = this.kubeClient(user, () => undefined);
  }

  kubeClient(
    process: SimulatedProcess,
    lossOf: (label: string) => Loss = (label) => this.lossOf(label),
  ): KubeClient {
    return new KubeClient({
      transport: new SimulatedKubernetesTransport(this.kubernetes, process, lossOf),
      clock: process.clock,
      random: this.simulation.random,
      metrics: process.name.startsWith('controller') ? this.metrics : noMetrics,
    });
  }

  cloud(process: SimulatedProcess, leaseGuard?: LeaseGuard): Cloud {
    const { user, password, domain, project } = accounts.demo;
    const config = cloudConfigFrom('demo', {
      auth_url: this.openstack.authUrl,
      region_name: this.openstack.region,
      username: user,
      password,
      user_domain_name: domain,
      project_name: project,
      project_domain_name: domain,
    });
    return new Cloud(config, {
      log: discardLog,
      metrics: noMetrics,
      clock: process.clock,
      random: this.simulation.random,
      leaseGuard,
      transport: new SimulatedOpenStackCarrier(this.openstack, process),
    });
  }

  /** Runs the simulation until the work is done; for a test's own requests to the cluster or the cloud. */
  async complete<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = () => (isDone = true);
    work.then(end, end);
    await this.simulation.runUntil(() => isDone);
    return work;
  }

  /**
   * Runs until nothing is unsettled. `always` returns violations and is checked after each step; a failure
   * contains the seed, the unsettled objects and the last steps.
   */
  protected async runUntilSettled(
    unsettled: () => readonly string[],
    always: () => readonly string[],
    maxSteps: number,
  ): Promise<void> {
    const check = () => {
      const problems = always();
      if (problems.length > 0) throw new Error(problems.join('; '));
      return unsettled().length === 0;
    };
    try {
      await this.simulation.runUntil(check, { maxSteps });
    } catch (error) {
      const trace = this.simulation.trace.slice(-60).join('\n');
      const problems = unsettled().join('\n  ');
      throw new Error(`seed ${this.simulation.seed}: ${problems}\n${trace}`, { cause: error });
    }
  }
}
