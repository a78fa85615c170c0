import type { Pod } from '../resources/pod/pod-type.ts';

/** How a pod that runs can be reached. */
export interface RunningPod {
  /** The pod's addresses, one of each family at most, the cluster's first family first. */
  readonly addresses: readonly string[];
  readonly hostAddresses: readonly string[];
}

/**
 * What runs pods on nodes: in memory only, or for real. Both calls may be repeated after an error or a
 * restart, and must then answer the same.
 */
export interface PodRunner {
  start(pod: Pod, signal: AbortSignal): Promise<RunningPod>;
  /** Ends the pod, with `graceSeconds` for it to do so by itself. */
  stop(pod: Pod, graceSeconds: number, signal: AbortSignal): Promise<void>;
  /** Whether the pod's containers are ready now. */
  isReady(pod: Pod): boolean;
  /** Calls back with `namespace/name` when that may have changed. */
  onReadinessChange(listener: (key: string) => void): { close(): void };
}
