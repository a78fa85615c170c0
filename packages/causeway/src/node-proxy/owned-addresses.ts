import {
  serviceKey,
  type Backend,
  type ServiceKey,
  type VirtualService,
} from '@causeway/nftables/compile/virtual-service';

/**
 * Origin of an address of a Service. Addresses that the cluster assigned take precedence over addresses that
 * users wrote.
 */
export type AddressOrigin = 'cluster' | 'node-port' | 'load-balancer' | 'external';

/** One address, protocol and port that a Service requests. */
export interface Target {
  /** `portId` of the Service's port. */
  readonly port: string;
  readonly origin: AddressOrigin;
  readonly virtual: VirtualService;
  /** With UDP, the endpoints that keep their flows: all that serve. */
  readonly serving?: readonly Backend[];
}

export interface AddressRequest {
  /** `namespace/name`. */
  readonly service: string;
  /** Creation time of the Service; the older Service keeps a target that both request. */
  readonly created: string;
  readonly targets: readonly Target[];
}

/** A target that another Service owns. */
export interface LostTarget {
  readonly target: Target;
  readonly owner: string;
}

export interface OwnershipChange {
  readonly set: ReadonlyMap<ServiceKey, VirtualService>;
  readonly remove: readonly ServiceKey[];
}

interface Candidate {
  readonly service: string;
  readonly created: string;
  readonly target: Target;
}

const ranks: Readonly<Record<AddressOrigin, number>> = {
  cluster: 0,
  'node-port': 1,
  'load-balancer': 2,
  external: 3,
};

/**
 * Assigns each address, protocol and port to one Service. Two Services can request the same one (external
 * addresses are free text). Exactly one Service gets it, the same one on every node.
 */
export class OwnedAddresses {
  readonly #byKey = new Map<ServiceKey, Candidate[]>();
  readonly #byService = new Map<string, readonly Candidate[]>();

  /** Replaces the targets that a Service requests; no targets when it is deleted. */
  replace({ service, created, targets }: AddressRequest): OwnershipChange {
    const touched = new Set<ServiceKey>();
    for (const { target } of this.#byService.get(service) ?? []) {
      const key = serviceKey(target.virtual);
      touched.add(key);
      this.#withdraw(key, service);
    }
    const candidates = targets.map((target): Candidate => ({ service, created, target }));
    for (const candidate of candidates) {
      const key = serviceKey(candidate.target.virtual);
      touched.add(key);
      this.#enter(key, candidate);
    }
    if (candidates.length === 0) this.#byService.delete(service);
    else this.#byService.set(service, candidates);
    return this.#outcome(touched);
  }

  has(service: string): boolean {
    return this.#byService.has(service);
  }

  /** Services that request targets. */
  services(): MapIterator<string> {
    return this.#byService.keys();
  }

  /** All targets, each for the Service that owns it. */
  *all(): Iterable<VirtualService> {
    for (const [winner] of this.#byKey.values()) {
      if (winner !== undefined) yield winner.target.virtual;
    }
  }

  /** Targets that the Service requested and owns. */
  owned(service: string): Target[] {
    const candidates = this.#byService.get(service) ?? [];
    return candidates
      .filter((candidate) => this.#owner(candidate) === candidate)
      .map(({ target }) => target);
  }

  /** Targets that the Service requested and another Service owns. */
  lost(service: string): LostTarget[] {
    const lost: LostTarget[] = [];
    for (const candidate of this.#byService.get(service) ?? []) {
      const owner = this.#owner(candidate);
      if (owner !== undefined && owner !== candidate && owner.service !== service) {
        lost.push({ target: candidate.target, owner: owner.service });
      }
    }
    return lost;
  }

  /** The other Services that request one of this Service's targets. */
  rivals(service: string): Set<string> {
    const rivals = new Set<string>();
    for (const { target } of this.#byService.get(service) ?? []) {
      for (const candidate of this.#byKey.get(serviceKey(target.virtual)) ?? []) {
        if (candidate.service !== service) rivals.add(candidate.service);
      }
    }
    return rivals;
  }

  #owner({ target }: Candidate): Candidate | undefined {
    return this.#byKey.get(serviceKey(target.virtual))?.[0];
  }

  #enter(key: ServiceKey, candidate: Candidate): void {
    const candidates = this.#byKey.get(key);
    if (candidates === undefined) {
      this.#byKey.set(key, [candidate]);
      return;
    }
    candidates.push(candidate);
    candidates.sort(precedence);
  }

  #withdraw(key: ServiceKey, service: string): void {
    const rest = this.#byKey.get(key)?.filter((candidate) => candidate.service !== service) ?? [];
    if (rest.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, rest);
  }

  #outcome(touched: Iterable<ServiceKey>): OwnershipChange {
    const set = new Map<ServiceKey, VirtualService>();
    const remove: ServiceKey[] = [];
    for (const key of touched) {
      const winner = this.#byKey.get(key)?.[0];
      if (winner === undefined) remove.push(key);
      else set.set(key, winner.target.virtual);
    }
    return { set, remove };
  }
}

/**
 * Orders candidates by origin, then age, then name. The result does not depend on the order in which a node received the
 * Services.
 */
function precedence(left: Candidate, right: Candidate): number {
  return (
    ranks[left.target.origin] - ranks[right.target.origin] ||
    compareText(left.created, right.created) ||
    compareText(left.service, right.service)
  );
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
