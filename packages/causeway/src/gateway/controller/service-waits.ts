import type { FrontendId } from '../protocol/frontend.ts';
import type { AgentFleet } from './fleet/agent-fleet.ts';

/** What a Service waits for. */
export type GatewayWait =
  /** The gateways serve this generation with these frontends. */
  | {
      readonly kind: 'serving';
      readonly generation: number;
      readonly frontends: readonly FrontendId[];
    }
  /** No gateway serves the Service, which is not in this generation. */
  | { readonly kind: 'removal'; readonly generation: number }
  /** The network lets the gateways use the address. */
  | { readonly kind: 'network' };

/** The facts that decide whether a wait is over. */
export type GatewayFacts = Pick<AgentFleet, 'servingSince' | 'behind' | 'withholding'>;

/** Decides whether the Service should be reconciled again, because its wait is over or may be over. */
export function isOver(service: string, wait: GatewayWait, facts: GatewayFacts): boolean {
  switch (wait.kind) {
    case 'serving':
      return facts.servingSince(wait.generation, wait.frontends).kind !== 'waiting';
    case 'removal':
      return facts.behind(wait.generation).length === 0 && facts.withholding(service).length === 0;
    case 'network':
      return true;
  }
}

/** The Services (`namespace/name`) that wait for gateways, or for an address of another Service. */
export class ServiceWaits {
  readonly #forGateways = new Map<string, GatewayWait>();
  readonly #forAddress = new Set<string>();

  /** The Service is reconciled again after an answer or failure of a gateway ends the wait. */
  forGateways(service: string, wait: GatewayWait): void {
    this.#forGateways.set(service, wait);
  }

  /** The Service wants an address of another Service. It is reconciled again after an address becomes free. */
  forAddress(service: string): void {
    this.#forAddress.add(service);
  }

  /** Takes the Services whose wait for gateways is over. */
  takeEnded(facts: GatewayFacts): readonly string[] {
    const ended = [...this.#forGateways]
      .filter(([service, wait]) => isOver(service, wait, facts))
      .map(([service]) => service);
    for (const service of ended) this.#forGateways.delete(service);
    return ended;
  }

  /** Takes the Services that wait for an address. */
  takeForAddress(): readonly string[] {
    const waiting = [...this.#forAddress];
    this.#forAddress.clear();
    return waiting;
  }
}
