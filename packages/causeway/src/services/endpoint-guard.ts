import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { GuardReport } from './guard-register.ts';
import { isMassLoss } from './mass-loss.ts';

/** Fewer Services can lose their pods together for reasons of their own. */
const fewestServices = 5;

/**
 * The guard against a mass loss of endpoints, for a process that knows no nodes. It looks at Services whose
 * endpoints were ready while the process ran, are all not ready now, and don't terminate. If these are more than
 * half of the Services with endpoints, and at least five, their endpoints keep counting as ready: Kubernetes
 * marks all pods of nodes that lost the API server as not ready.
 */
export class EndpointGuard {
  readonly #ready = new Set<string>();
  readonly #lost = new Set<string>();
  readonly #onChange: (services: Iterable<string>) => void;

  /** Calls `onChange` with the concerned Services when the guard begins or ends. */
  constructor(onChange: (services: Iterable<string>) => void) {
    this.#onChange = onChange;
  }

  /** Takes the current slices of a Service. */
  set(service: string, slices: readonly EndpointSlice[]): void {
    const wasActive = this.isActive;
    const state = stateOf(slices);
    const wasKnown = this.#ready.delete(service) || this.#lost.delete(service);
    if (state === 'ready') this.#ready.add(service);
    else if (state === 'not-ready' && wasKnown) this.#lost.add(service);
    if (this.isActive !== wasActive) this.#onChange([...this.#lost, service]);
  }

  get isActive(): boolean {
    const lost = this.#lost.size;
    return lost >= fewestServices && isMassLoss(lost, lost + this.#ready.size);
  }

  /** Whether the endpoints of the Service keep counting as ready. */
  isKept(service: string): boolean {
    return this.isActive && this.#lost.has(service);
  }

  get report(): GuardReport | undefined {
    if (!this.isActive) return undefined;
    const lost = this.#lost.size;
    const message = `All endpoints of ${lost} of ${lost + this.#ready.size} Services are not ready. Kubelets or the API server are more likely at fault than all these pods, so their endpoints stay in use.`;
    return { held: lost, message };
  }
}

function stateOf(slices: readonly EndpointSlice[]): 'ready' | 'not-ready' | 'none' {
  let state: 'not-ready' | 'none' = 'none';
  for (const { endpoints } of slices) {
    for (const { conditions } of endpoints ?? []) {
      if (conditions?.ready !== false) return 'ready';
      if (conditions.terminating !== true) state = 'not-ready';
    }
  }
  return state;
}
