import type { Pod } from '../resources/pod/pod-type.ts';

/** Addresses of a running pod. */
export interface RunningPod {
  /** The pod's addresses, at most one per family, the cluster's first family first. */
  readonly addresses: readonly string[];
  readonly hostAddresses: readonly string[];
}

/**
 * Runs pods on nodes, either in memory or for real. `start` and `stop` can be repeated after an error or a
 * restart and must then return the same result.
 */
export interface PodRunner {
  start(pod: Pod, signal: AbortSignal): Promise<RunningPod>;
  /** Terminates the pod, with `graceSeconds` for a graceful shutdown. */
  stop(pod: Pod, graceSeconds: number, signal: AbortSignal): Promise<void>;
  /** Whether the pod's containers are ready now. */
  isReady(pod: Pod): boolean;
  /** Calls the listener with `namespace/name` when the readiness may have changed. */
  onReadinessChange(listener: (key: string) => void): { close(): void };
}
