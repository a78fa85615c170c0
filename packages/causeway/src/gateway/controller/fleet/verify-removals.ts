import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { frontendKey, type FrontendKey } from '../../protocol/frontend.ts';
import { ownerKey, type FrontendSpec } from '../../../services/frontend-spec.ts';
import { readPlace, readPortIds } from '../ports/annotations.ts';
import type { L2Port } from '../ports/port-slot.ts';
import type { L4Port } from '../../../services/l4-port.ts';
import { portsAskedFor } from '../../../services/load-balancer-spec.ts';
import type { RemovalVerdict, WithheldFrontend } from './withheld-removals.ts';

/** The facts for the verification of withheld removals. */
export interface RemovalFacts {
  /** The UID of the cluster of the API server. */
  readonly cluster: string | undefined;
  /** The UID of the cluster at the controller's start, if known. */
  readonly expectedCluster: string | undefined;
  /** All Services, read from the API server itself and not from a cache. */
  readonly owners: readonly FrontendSpec[];
  /** All addresses of the record of addresses, used or not. */
  readonly ports: readonly L2Port[];
  /** Whether the record of addresses holds the address, protocol and port for a Service. */
  readonly isHeld: (address: Address, port: L4Port) => boolean;
}

/**
 * Decides which withheld removals are verified. A removal is verified if no Service owns the frontend,
 * according to the API server and to the record of addresses. An API server without any Service proves
 * nothing: it lists at least its own, `default/kubernetes`.
 */
export function verifyRemovals(
  frontends: Iterable<WithheldFrontend>,
  facts: RemovalFacts,
): RemovalVerdict {
  const verified = new Set<FrontendKey>();
  const doubts = new Map<FrontendKey, string>();
  const general = whyUnreliable(facts);
  const owners = general === undefined ? new Owners(facts) : undefined;
  for (const frontend of frontends) {
    const doubt = general ?? owners?.whyOwned(frontend);
    if (doubt === undefined) verified.add(frontendKey(frontend));
    else doubts.set(frontendKey(frontend), doubt);
  }
  return { cluster: facts.cluster, verified, doubts };
}

function whyUnreliable({ cluster, expectedCluster, owners }: RemovalFacts): string | undefined {
  if (expectedCluster !== undefined && cluster !== expectedCluster) {
    return `the API server belongs to another cluster (${cluster ?? 'without a UID'}) than at the start of the controller`;
  }
  if (owners.length === 0) {
    return 'the API server lists no Service at all, not even its own, so its data may be lost';
  }
  return undefined;
}

class Owners {
  readonly #facts: RemovalFacts;
  readonly #byAddress = new Map<Address, FrontendSpec[]>();
  /** Services that name a port with an unknown address. */
  readonly #unclear = new Map<string, string>();

  constructor(facts: RemovalFacts) {
    this.#facts = facts;
    const byId = new Map(facts.ports.map((port) => [port.id, port]));
    const byPublic = new Map(facts.ports.map((port) => [port.publicAddress, port]));
    for (const owner of facts.owners) {
      if (!canOwn(owner)) continue;
      for (const address of publishedAddresses(owner)) {
        this.#add(address, owner);
        const behind = byPublic.get(address);
        if (behind !== undefined) this.#add(behind.address, owner);
      }
      for (const id of readPortIds(owner).values()) {
        const port = byId.get(id);
        if (port === undefined) this.#unclear.set(ownerKey(owner.owner), id);
        else this.#add(port.address, owner);
      }
    }
  }

  /** Why the frontend may belong to a Service; undefined if it belongs to none. */
  whyOwned(frontend: WithheldFrontend): string | undefined {
    const owner = (this.#byAddress.get(frontend.address) ?? []).find((each) =>
      hasPort(each, frontend),
    );
    if (owner !== undefined)
      return `the Service ${ownerKey(owner.owner)} has this address and port`;
    const unclear = this.#unclear.get(frontend.service ?? '');
    if (unclear !== undefined) {
      return `the Service ${frontend.service} has the port ${unclear} with an unknown address`;
    }
    if (this.#facts.isHeld(frontend.address, frontend)) {
      return 'the record of addresses holds this address and port for a Service';
    }
    return undefined;
  }

  #add(address: Address, owner: FrontendSpec): void {
    const there = this.#byAddress.get(address);
    if (there === undefined) this.#byAddress.set(address, [owner]);
    else there.push(owner);
  }
}

/** A Service that is being deleted, or of another type, owns nothing. */
function canOwn({ exposure, isDeleted }: FrontendSpec): boolean {
  return exposure === 'external' && !isDeleted;
}

function publishedAddresses({ published }: FrontendSpec): Address[] {
  return published.flatMap((text) => tryParseAddress(text) ?? []);
}

/** By its spec, and by its annotation. */
function hasPort(owner: FrontendSpec, { protocol, port }: L4Port): boolean {
  const all = [...portsAskedFor(owner), ...(readPlace(owner).held ?? [])];
  return all.some((each) => each.protocol === protocol && each.port === port);
}
