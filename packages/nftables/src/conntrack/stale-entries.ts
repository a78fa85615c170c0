import { familyOf } from '@causeway/base/address/address';
import { servingBackends, type Backend, type VirtualService } from '../compile/virtual-service.ts';
import { protocolNumbers } from '../model/operands.ts';
import { binary, frontendId } from './connection-keys.ts';
import { addressTail, mostFilters, type Query, type Tracked } from './tracked-connection.ts';

/** A service whose conntrack entries are checked. */
export interface CheckedService
  extends Pick<
    VirtualService,
    'address' | 'protocol' | 'port' | 'dispatch' | 'insideBackends' | 'draining'
  > {
  /** Further backends that keep their flows, because they still serve. */
  readonly serving?: readonly Backend[];
}

/** Matches connections to a service that lead to none of its backends. */
export class StaleEntries {
  readonly #backends = new Map<string, Set<string>>();
  /** The port of this machine, on any address, that a service is redirected to. */
  readonly #listeners = new Map<string, number>();
  readonly queries: readonly Query[];

  constructor(services: readonly CheckedService[]) {
    for (const service of services) {
      const { address, protocol, port, dispatch, serving = [] } = service;
      const key = frontendId(protocolNumbers[protocol], binary(address), port);
      const kept = [...servingBackends(service), ...serving];
      this.#backends.set(key, new Set(kept.map((to) => `${binary(to.address)} ${to.port}`)));
      if (dispatch.kind === 'here') this.#listeners.set(key, dispatch.port);
    }
    const virtual = new Set(services.map(({ address }) => addressTail(address)));
    this.queries = queriesFor(services).map((query) => ({ ...query, virtual }));
  }

  includes({ original, reply, isAnswered }: Tracked): boolean {
    const { protocol, destination, destinationPort } = original;
    if (protocol === protocolNumbers.TCP && isAnswered) return false;
    const key = frontendId(protocol, destination, destinationPort);
    if (this.#listeners.get(key) === reply.sourcePort) return false;
    const backends = this.#backends.get(key);
    return backends !== undefined && !backends.has(`${reply.source} ${reply.sourcePort}`);
  }
}

/** One search for each service if there are few, else one for each family and protocol. */
function queriesFor(services: readonly CheckedService[]): Query[] {
  if (services.length <= mostFilters) {
    return services.map((service) => ({
      ...queryFor(service),
      like: { original: { destination: binary(service.address), destinationPort: service.port } },
    }));
  }
  const queries = new Map(
    services.map((each) => [`${familyOf(each.address)} ${each.protocol}`, queryFor(each)]),
  );
  return [...queries.values()];
}

function queryFor({ address, protocol }: CheckedService): Query {
  const query = { family: familyOf(address), protocol: protocolNumbers[protocol] };
  return protocol === 'TCP' ? { ...query, status: 0, isUnanswered: true } : query;
}
