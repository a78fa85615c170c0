import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { endpointKey, type EndpointKey } from '../protocol/endpoint.ts';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { readPlace, readPortIds } from './annotations.ts';
import type { L2Port } from './port-slot.ts';
import type { L4Port } from '../../services/l4-port.ts';
import { portsAskedFor } from '../../services/load-balancer-spec.ts';
import type { RemovalVerdict, WithheldFrontend } from './withheld-removals.ts';

/** What the verification of withheld removals goes by. */
export interface RemovalFacts {
  /** The UID of the cluster whose API server was asked. */
  readonly cluster: string | undefined;
  /** The UID of the cluster that this controller was started for, where it is known. */
  readonly expectedCluster: string | undefined;
  /** Every Service, read from the API server itself and not from a cache. */
  readonly services: readonly Service[];
  /** Every address that the record of addresses has, used or not. */
  readonly ports: readonly L2Port[];
  /** Whether the record of addresses holds the address, protocol and port for a Service. */
  readonly isHeld: (address: Address, port: L4Port) => boolean;
}

/**
 * Decides which withheld removals are verified. A removal is verified when no Service owns the frontend,
 * neither by the API server's own word nor by the record of addresses. An API server without a single
 * Service proves nothing: it lists at least its own, `default/kubernetes`.
 */
export function verifyRemovals(
  frontends: Iterable<WithheldFrontend>,
  facts: RemovalFacts,
): RemovalVerdict {
  const verified = new Set<EndpointKey>();
  const doubts = new Map<EndpointKey, string>();
  const general = whyUnreliable(facts);
  const owners = general === undefined ? new Owners(facts) : undefined;
  for (const frontend of frontends) {
    const doubt = general ?? owners?.whyOwned(frontend);
    if (doubt === undefined) verified.add(endpointKey(frontend));
    else doubts.set(endpointKey(frontend), doubt);
  }
  return { cluster: facts.cluster, verified, doubts };
}

function whyUnreliable({ cluster, expectedCluster, services }: RemovalFacts): string | undefined {
  if (expectedCluster !== undefined && cluster !== expectedCluster) {
    return `the API server is that of another cluster (${cluster ?? 'without a UID'}) than at the start of the controller`;
  }
  if (services.length === 0) {
    return 'the API server lists no Service at all, not even its own, so its data may be lost';
  }
  return undefined;
}

class Owners {
  readonly #facts: RemovalFacts;
  readonly #byAddress = new Map<Address, Service[]>();
  /** Services that name a port whose address is not known. */
  readonly #unclear = new Map<string, string>();

  constructor(facts: RemovalFacts) {
    this.#facts = facts;
    const byId = new Map(facts.ports.map((port) => [port.id, port]));
    const byPublic = new Map(facts.ports.map((port) => [port.publicAddress, port]));
    for (const service of facts.services) {
      if (!canOwn(service)) continue;
      for (const address of toldAddresses(service)) {
        this.#add(address, service);
        const behind = byPublic.get(address);
        if (behind !== undefined) this.#add(behind.address, service);
      }
      for (const id of readPortIds(service).values()) {
        const port = byId.get(id);
        if (port === undefined) this.#unclear.set(keyOf(service), id);
        else this.#add(port.address, service);
      }
    }
  }

  /** Why the frontend may belong to a Service; undefined where it belongs to none. */
  whyOwned(frontend: WithheldFrontend): string | undefined {
    const owner = (this.#byAddress.get(frontend.address) ?? []).find((service) =>
      hasPort(service, frontend),
    );
    if (owner !== undefined) return `the Service ${keyOf(owner)} has this address and port`;
    const unclear = this.#unclear.get(frontend.service ?? '');
    if (unclear !== undefined) {
      return `the Service ${frontend.service} has the port ${unclear}, whose address is not known`;
    }
    if (this.#facts.isHeld(frontend.address, frontend)) {
      return 'the record of addresses holds this address and port for a Service';
    }
    return undefined;
  }

  #add(address: Address, service: Service): void {
    const there = this.#byAddress.get(address);
    if (there === undefined) this.#byAddress.set(address, [service]);
    else there.push(service);
  }
}

/** A Service that is being deleted owns nothing any more, nor does one of another type. */
function canOwn({ metadata, spec }: Service): boolean {
  return spec?.type === 'LoadBalancer' && metadata?.deletionTimestamp === undefined;
}

function toldAddresses({ status }: Service): Address[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '' }) => tryParseAddress(ip) ?? []);
}

/** By what it asks for now, and by what is written on it. */
function hasPort(service: Service, { protocol, port }: L4Port): boolean {
  const all = [...portsAskedFor(service), ...(readPlace(service).held ?? [])];
  return all.some((each) => each.protocol === protocol && each.port === port);
}
