import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../../packages/fake-kubernetes/src/object.ts';
import type { Pod } from '../../packages/fake-kubernetes/src/resources/pod/pod-type.ts';
import type { GatewayName } from '../kernel/gateway/topology.ts';
import { waitFor } from '../services/wait-for.ts';
import type { ConnectionsLab } from './lab.ts';
import { setNodeReady, setUnschedulable } from './nodes.ts';
import { acceptSyns, dropSyns } from './pod-machine.ts';
import type { FailoverKind, Step } from './schedule.ts';
import type { RunEvent } from './verdict.ts';

/** An unplanned failover began at most this long before it is noticed. */
export const checkMs = 3_000;

/** Carries out steps on a lab, and records them. */
export class Actor {
  readonly #lab: ConnectionsLab;
  readonly #events: RunEvent[] = [];
  #active: GatewayName | undefined;
  #isFailingOver = false;
  #absent: { readonly gateway: GatewayName; readonly how: FailoverKind } | undefined;
  #restarts = 0;

  constructor(lab: ConnectionsLab) {
    this.#lab = lab;
  }

  /** The steps so far, in the order of their beginning. */
  get events(): readonly RunEvent[] {
    return this.#events.toSorted((one, other) => one.at - other.at);
  }

  async act(step: Step): Promise<void> {
    const at = Date.now();
    this.#isFailingOver = step.kind === 'failover';
    await this.#carryOut(step);
    this.#isFailingOver = false;
    this.#events.push({ at, completeAt: Date.now(), step });
  }

  /** Records a failover that is no step, if another gateway is active than before. */
  async checkActive(): Promise<void> {
    const active = await this.#lab.topology.active();
    if (active === undefined) return;
    const before = this.#active;
    this.#active = active;
    if (before === undefined || before === active || this.#isFailingOver) return;
    const at = Date.now();
    const step = { kind: 'failover', how: 'unplanned' } as const;
    this.#events.push({ at: at - checkMs, completeAt: at, step });
  }

  async #carryOut(step: Step): Promise<void> {
    const { cluster } = this.#lab.kubernetes;
    switch (step.kind) {
      case 'scale':
        return this.#changeDeployment({ replicas: step.replicas });
      case 'restart':
        return this.#restart();
      case 'drain':
        return this.#drain(step.node);
      case 'uncordon':
        return setUnschedulable(cluster, step.node, false);
      case 'pod overload':
        return this.#overloadPod(step.pod, step.failsReadiness, step.seconds);
      case 'node overload':
        return this.#overloadNode(step.node, step.seconds);
      case 'node flap':
        return this.#flap(step.node, step.losesLink, step.seconds);
      case 'failover':
        return this.#failOver(step.how);
      case 'return':
        return this.#return();
      default:
        return step satisfies never;
    }
  }

  #restart(): void {
    this.#restarts += 1;
    const deployment = this.#deployment();
    const { template } = deployment['spec'] as { template: { metadata: object } };
    const annotations = { 'kubectl.kubernetes.io/restartedAt': String(this.#restarts) };
    const metadata = { ...template.metadata, annotations };
    this.#changeDeployment({ template: { ...template, metadata } });
  }

  #changeDeployment(changes: object): void {
    const deployment = this.#deployment();
    const spec = { ...(deployment['spec'] as object), ...changes };
    this.#lab.kubernetes.cluster.update('deployments.apps', { ...deployment, spec });
  }

  #deployment(): KubeObject {
    const { store } = this.#lab.kubernetes.cluster;
    const deployment = store.get('deployments.apps', 'default', 'web');
    if (deployment === undefined) throw new Error('the Deployment is missing');
    return structuredClone(deployment);
  }

  /** Like `kubectl drain`: the node is cordoned, and its pods are deleted with their grace time. */
  #drain(node: string): void {
    const { cluster } = this.#lab.kubernetes;
    setUnschedulable(cluster, node, true);
    for (const { metadata, spec } of cluster.store.list('pods') as Pod[]) {
      const isThere = spec.nodeName === node && metadata.deletionTimestamp === undefined;
      if (isThere) cluster.delete('pods', metadata.namespace, metadata.name);
    }
  }

  async #overloadPod(number: number, failsReadiness: boolean, seconds: number): Promise<void> {
    const { kubelet } = this.#lab;
    const name = kubelet.pods[number % kubelet.pods.length];
    if (name === undefined) return;
    const recover = await kubelet.overload(name);
    if (failsReadiness) kubelet.setReady(name, false);
    await delay(seconds * 1_000);
    await recover();
    if (failsReadiness) kubelet.setReady(name, true);
  }

  async #overloadNode(node: string, seconds: number): Promise<void> {
    const { topology } = this.#lab;
    const rule = 'fib daddr type local tcp flags & (syn|ack) == syn drop';
    await dropSyns(topology, node, [rule]);
    await delay(seconds * 1_000);
    await acceptSyns(topology, node);
  }

  async #flap(node: string, losesLink: boolean, seconds: number): Promise<void> {
    const { kubernetes, topology } = this.#lab;
    const link = (state: string) => topology.network.ip('switch', `link set ${node}-int ${state}`);
    if (losesLink) await link('down');
    setNodeReady(kubernetes.cluster, node, false);
    await delay(seconds * 1_000);
    if (losesLink) await link('up');
    setNodeReady(kubernetes.cluster, node, true);
  }

  async #failOver(how: FailoverKind): Promise<void> {
    const { topology } = this.#lab;
    await this.#lab.bothGateways();
    const gateway = await waitFor('one active gateway', () => topology.active());
    this.#absent = { gateway, how };
    if (how === 'power cut') await topology.cutPower(gateway);
    else if (how === 'drained gateway')
      await topology.command(gateway, 'drain', '--reason', 'a step of the schedule');
    this.#active = await waitFor('the other gateway to be active', async () => {
      const active = await topology.active();
      return active === gateway ? undefined : active;
    });
  }

  async #return(): Promise<void> {
    if (this.#absent === undefined) return;
    const { gateway, how } = this.#absent;
    this.#absent = undefined;
    if (how === 'power cut') await this.#lab.bootGateway(gateway);
    else await this.#lab.topology.command(gateway, 'undrain');
    await this.#lab.bothGateways();
  }
}
