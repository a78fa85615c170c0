import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterApi } from '../../packages/fake-kubernetes/src/cluster-api.ts';
import type { KubeObject } from '../../packages/fake-kubernetes/src/object.ts';
import type { Pod } from '../../packages/fake-kubernetes/src/resources/pod/pod-type.ts';
import type { PodMachine } from './pod-machine.ts';

interface RunningPod {
  readonly name: string;
  readonly machine: PodMachine;
  readonly addresses: readonly string[];
  isReady: boolean;
  isEnding: boolean;
}

/**
 * The kubelets of all nodes: starts pods, reports their status, and lets deleted pods serve for the time of
 * their preStop hook before they end.
 */
export class Kubelet {
  readonly #api: ClusterApi;
  readonly #machines: ReadonlyMap<string, PodMachine>;
  readonly #preStopMs: number;
  readonly #running = new Map<string, RunningPod>();
  /** All pods that ever ran, with their ends. */
  readonly ends = new Map<string, number | undefined>();
  readonly #subscription: { close(): void };
  #failure: Error | undefined;

  constructor(api: ClusterApi, machines: ReadonlyMap<string, PodMachine>, preStopSeconds: number) {
    this.#api = api;
    this.#machines = machines;
    this.#preStopMs = preStopSeconds * 1_000;
    this.#subscription = api.store.watch('pods', api.store.version, ({ type, object }) => {
      if (type === 'DELETED') return;
      this.#follow(object as Pod).catch((error: unknown) => {
        this.#failure = new Error('a kubelet failed', { cause: error });
      });
    });
  }

  close(): void {
    this.#subscription.close();
  }

  /** Throws the first failure, so that a run does not go on without its pods. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Pods that run and are not about to end, oldest first. */
  get pods(): readonly string[] {
    return [...this.#running.values()].filter(({ isEnding }) => !isEnding).map(({ name }) => name);
  }

  /** Reports the result of a pod's readiness probe. */
  setReady(name: string, isReady: boolean): void {
    const pod = this.#running.get(name);
    if (pod === undefined) return;
    pod.isReady = isReady;
    this.#report(pod);
  }

  /** Makes a pod drop SYNs until the returned function is called. */
  async overload(name: string): Promise<() => Promise<void>> {
    const pod = this.#running.get(name);
    if (pod === undefined) throw new Error(`${name} does not run`);
    await pod.machine.dropSyns(pod.addresses);
    return () => pod.machine.acceptSyns();
  }

  async #follow({ metadata, spec }: Pod): Promise<void> {
    const { name, deletionTimestamp } = metadata;
    const machine = this.#machines.get(spec.nodeName ?? '');
    const running = this.#running.get(name);
    if (machine === undefined) return;
    if (deletionTimestamp !== undefined) {
      if (running !== undefined && !running.isEnding) await this.#end(running);
      return;
    }
    if (this.ends.has(name)) return;
    this.ends.set(name, undefined);
    const addresses = await machine.startPod(name);
    const pod = { name, machine, addresses, isReady: true, isEnding: false };
    this.#running.set(name, pod);
    this.#report(pod);
    if (this.#find(name)?.metadata.deletionTimestamp !== undefined) await this.#end(pod);
  }

  async #end(pod: RunningPod): Promise<void> {
    pod.isEnding = true;
    await delay(this.#preStopMs);
    this.ends.set(pod.name, Date.now());
    await pod.machine.endPod(pod.name, pod.addresses);
    this.#running.delete(pod.name);
    if (this.#find(pod.name) === undefined) return;
    this.#api.delete('pods', 'default', pod.name, { gracePeriodSeconds: 0 });
  }

  #report({ name, addresses, isReady, machine }: RunningPod): void {
    const pod = this.#find(name);
    if (pod === undefined) return;
    const is = isReady ? 'True' : 'False';
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: is }));
    const status = {
      phase: 'Running',
      conditions: [...conditions, { type: 'PodScheduled', status: 'True' }],
      podIP: addresses[0],
      podIPs: addresses.map((ip) => ({ ip })),
      hostIP: machine.hostAddresses[0],
      hostIPs: machine.hostAddresses.map((ip) => ({ ip })),
      startTime: pod.metadata.creationTimestamp,
    };
    this.#api.update('pods', { ...structuredClone(pod), status }, { subresource: 'status' });
  }

  #find(name: string): KubeObject | undefined {
    return this.#api.store.get('pods', 'default', name);
  }
}
