import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort, type Port, type Protocol } from '@causeway/base/address/port';
import {
  parseInterface,
  prefixContains,
  prefixFamily,
  hostPrefix,
  prefixOf,
  type Prefix,
} from '@causeway/base/address/prefix';
import { canonicalRanges, type RangeList } from '@causeway/base/address/range-list';
import { quoted } from '@causeway/base/text/text-limit';
import { hasReadyEndpoint } from '../idling/ready-endpoints.ts';
import type { Service, ServicePort } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import {
  budgetedService,
  budgetExcess,
  type BudgetExcess,
} from '@causeway/kubernetes/objects/service-budget';
import { checkService } from '@causeway/nftables/compile/check-service';
import type {
  Affinity,
  Dispatch,
  Backend,
  VirtualService,
} from '@causeway/nftables/compile/virtual-service';
import type { AddressOrigin, Target } from './owned-addresses.ts';
import { chooseEndpoints, type ChosenEndpoints } from './choose-endpoints.ts';
import { clusterAddresses } from './cluster-addresses.ts';
import { diversionOfPort } from './port-diversion.ts';
import { countLocalEndpoints, endpointsOfPort, type ServiceEndpoint } from './service-endpoints.ts';
import {
  holdingOf,
  portId,
  type Diversion,
  type HealthCheck,
  type Holding,
} from './served-service.ts';

/** Inputs of the rules, beside Services and endpoints. */
export interface NodeContext {
  readonly name: string;
  readonly zone: string | undefined;
  /** The node's own addresses, from its Node object. */
  readonly addresses: readonly Address[];
  /** Addresses on which node ports are served. */
  readonly nodePortAddresses: readonly Address[];
  /** Rewrite the source of every connection to a cluster address. */
  readonly masqueradeAll: boolean;
  /** Whether pods can be identified; if so, connections from outside to cluster addresses are masqueraded. */
  readonly knowsInsiders: boolean;
}

export interface TranslationInput {
  readonly service: Service;
  readonly slices: readonly EndpointSlice[];
  readonly diversion: Diversion | undefined;
  readonly node: NodeContext;
}

export interface Translation {
  readonly targets: readonly Target[];
  readonly healthCheck?: HealthCheck | undefined;
  /** Set if the Service exceeds the budget; nothing of it is served then. */
  readonly excess?: BudgetExcess;
  /** Descriptions of values that could not be parsed and were left out. */
  readonly problems: readonly string[];
}

/** The node's rules for a Service: a pure function of its input. */
export function translateService(input: TranslationInput): Translation {
  const excess = budgetExcess(budgetedService(input.service), input.slices);
  if (excess !== undefined) return { targets: [], problems: [], excess };
  const translator = new Translator(input);
  const targets = translator.targets().filter(({ virtual }) => translator.canBeServed(virtual));
  const healthCheck = targets.length === 0 ? undefined : healthCheckOf(input);
  return { targets, healthCheck, problems: [...translator.problems] };
}

const defaultAffinitySeconds = 10_800;

/** One port of the Service in one address family. */
interface FamilyPort {
  readonly family: Family;
  readonly protocol: Protocol;
  readonly port: Port;
  readonly nodePort: Port | undefined;
  readonly endpoints: ChosenEndpoints;
  /** With UDP, every endpoint that serves. */
  readonly serving: readonly Backend[] | undefined;
  readonly holding: Holding | undefined;
  readonly isReplayed: boolean;
  /** External traffic stays on this node. */
  readonly isExternalLocal: boolean;
}

class Translator {
  readonly #input: TranslationInput;
  readonly #spec: NonNullable<Service['spec']>;
  readonly #isInternalLocal: boolean;
  readonly problems = new Set<string>();
  /** All ports share the ranges of an address. */
  readonly #rangesByAddress = new Map<Address, RangeList>();
  #ranges: RangeList | undefined;

  constructor(input: TranslationInput) {
    this.#input = input;
    this.#spec = input.service.spec ?? {};
    this.#isInternalLocal = this.#spec.internalTrafficPolicy === 'Local';
  }

  targets(): Target[] {
    const targets: Target[] = [];
    for (const address of clusterAddresses(this.#input.service)) {
      const external = this.#externalAddresses(familyOf(address));
      for (const port of this.#spec.ports ?? []) {
        const familyPort = this.#familyPort(port, familyOf(address), external.length > 0);
        if (familyPort === undefined) continue;
        targets.push(this.#clusterTarget(familyPort, address));
        for (const { origin, address: own } of external) {
          targets.push(this.#externalTarget(familyPort, origin, own, familyPort.port));
        }
        if (familyPort.nodePort === undefined) continue;
        for (const own of this.#nodePortAddresses(familyPort.family)) {
          targets.push(this.#externalTarget(familyPort, 'node-port', own, familyPort.nodePort));
        }
      }
    }
    return targets;
  }

  /** A Service that the kernel does not support must not prevent the others from being written. */
  canBeServed(virtual: VirtualService): boolean {
    try {
      checkService(virtual);
      return true;
    } catch (error) {
      this.problems.add(CausewayError.from(error).message);
      return false;
    }
  }

  #nodePortAddresses(family: Family): Address[] {
    return this.#input.node.nodePortAddresses.filter((own) => familyOf(own) === family);
  }

  #familyPort(port: ServicePort, family: Family, hasAddress: boolean): FamilyPort | undefined {
    const { service, slices, node } = this.#input;
    const protocol = port.protocol ?? 'TCP';
    const number = readPort(port.port);
    if (number === undefined) return undefined;
    const nodePort = readPort(port.nodePort ?? 0);
    const isExternal = hasAddress || nodePort !== undefined;
    const wanted = { name: port.name ?? '', protocol };
    const all = endpointsOfPort(slices, wanted, family, node.name);
    const diversion = diversionOfPort(this.#input.diversion, service, all);
    const isReplayed = diversion?.kind === 'replay';
    const isExternalLocal = isReplayed || this.#spec.externalTrafficPolicy === 'Local';
    const endpoints = chooseEndpoints(all, {
      nodeName: node.name,
      zone: node.zone,
      // Also under Local: clients inside are sent to any node.
      usesCluster: !this.#isInternalLocal || isExternal,
      usesLocal: this.#isInternalLocal || (isExternalLocal && isExternal),
    });
    return {
      family,
      protocol,
      port: number,
      nodePort,
      endpoints,
      serving: protocol === 'UDP' ? all.filter(isServing).map(asBackend) : undefined,
      holding: holdingOf(diversion),
      isReplayed,
      isExternalLocal,
    };
  }

  #clusterTarget(port: FamilyPort, address: Address): Target {
    const { node } = this.#input;
    const chosen = this.#isInternalLocal ? port.endpoints.local : port.endpoints.cluster;
    const masquerade = node.masqueradeAll ? 'always' : node.knowsInsiders ? 'outsiders' : 'needed';
    return this.#target(port, 'cluster', {
      address,
      port: port.port,
      masquerade,
      ...this.#towards(port, chosen.map(asBackend)),
    });
  }

  #externalTarget(port: FamilyPort, origin: AddressOrigin, address: Address, at: Port): Target {
    const { endpoints, holding, isExternalLocal } = port;
    const chosen = forOutside(port, origin).map(asBackend);
    const hasInside = isExternalLocal && holding === undefined;
    return this.#target(port, origin, {
      address,
      port: at,
      exclusiveAddress: false,
      masquerade: isExternalLocal ? 'machine' : 'always',
      ...this.#towards(port, chosen),
      ...(hasInside ? insideBackends(endpoints.cluster.map(asBackend)) : {}),
      ...(origin === 'load-balancer' ? this.#sourceRanges(port.family, address) : {}),
    });
  }

  #target(
    port: FamilyPort,
    origin: AddressOrigin,
    virtual: Omit<VirtualService, 'protocol' | 'affinity'>,
  ): Target {
    const id = portId(port.protocol, port.port);
    const { protocol, serving } = port;
    return {
      port: id,
      origin,
      virtual: { ...virtual, protocol, ...this.#affinity(id) },
      ...(serving === undefined ? {} : { serving }),
    };
  }

  #towards(
    port: FamilyPort,
    backends: readonly Backend[],
  ): Pick<VirtualService, 'dispatch' | 'withoutBackends'> {
    const dispatch: Dispatch =
      port.holding === undefined
        ? { kind: 'slots', backends }
        : held(port.holding, portId(port.protocol, port.port));
    // Other nodes have endpoints: drop the packet, so that the client retries and reaches another node.
    return { dispatch, withoutBackends: port.endpoints.hasAny ? 'drop' : 'reject' };
  }

  #affinity(id: string): { readonly affinity?: Affinity } {
    const { service } = this.#input;
    if (this.#spec.sessionAffinity !== 'ClientIP') return {};
    const seconds =
      this.#spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds;
    return { affinity: { kind: 'client-timeout', seconds, group: `${keyOf(service)} ${id}` } };
  }

  /** External and load balancer addresses of the family. */
  #externalAddresses(family: Family): { origin: AddressOrigin; address: Address }[] {
    const ingress = this.#input.service.status?.loadBalancer?.ingress ?? [];
    const balanced = ingress
      // Traffic of a proxying load balancer arrives at the node port; the load balancer keeps the address.
      .filter(({ ip, ipMode }) => ip !== undefined && ip !== '' && ipMode !== 'Proxy')
      .map(({ ip = '' }) => ({ origin: 'load-balancer' as const, text: ip }));
    const external = (this.#spec.externalIPs ?? []).map((text) => ({
      origin: 'external' as const,
      text,
    }));
    const found = new Map<Address, AddressOrigin>();
    for (const { origin, text } of [...balanced, ...external]) {
      const address = tryParseAddress(text);
      if (address === undefined) this.problems.add(`${quoted(text)} is not an address`);
      else if (familyOf(address) === family && !found.has(address)) found.set(address, origin);
    }
    return [...found].map(([address, origin]) => ({ address, origin }));
  }

  /**
   * Ranges of the other family only allow no client of this family. If the node is allowed, so is the address
   * as a source: a node with the address on an interface uses it towards itself.
   */
  #sourceRanges(family: Family, address: Address): { readonly sourceRanges?: RangeList } {
    const texts = this.#spec.loadBalancerSourceRanges ?? [];
    if (texts.length === 0) return {};
    let sourceRanges = this.#rangesByAddress.get(address);
    if (sourceRanges === undefined) {
      sourceRanges = this.#rangesFor(family, address, texts);
      this.#rangesByAddress.set(address, sourceRanges);
    }
    return { sourceRanges };
  }

  #rangesFor(family: Family, address: Address, texts: readonly string[]): RangeList {
    this.#ranges ??= texts
      .map((text) => this.#readRange(text))
      .filter((range) => range !== undefined);
    const ranges = this.#ranges.filter((range) => prefixFamily(range) === family);
    const { addresses } = this.#input.node;
    const letsNodeIn = ranges.some((range) => addresses.some((own) => prefixContains(range, own)));
    const own = letsNodeIn ? [hostPrefix(address)] : [];
    return canonicalRanges([...ranges, ...own]);
  }

  #readRange(text: string): Prefix | undefined {
    try {
      const { address, length } = parseInterface(text.trim());
      return prefixOf(address, length);
    } catch (error) {
      this.problems.add(CausewayError.from(error).message);
      return undefined;
    }
  }
}

function healthCheckOf({
  service,
  slices,
  diversion,
  node,
}: TranslationInput): HealthCheck | undefined {
  const { type, externalTrafficPolicy, healthCheckNodePort } = service.spec ?? {};
  const port = readPort(healthCheckNodePort ?? 0);
  if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local' || port === undefined) {
    return undefined;
  }
  const localEndpoints = countLocalEndpoints(slices, node.name);
  // Every node can wake an idle Service. Once a port is served, only nodes with pods hold packets for the
  // other ports.
  const isAsleep = holdingOf(diversion) !== undefined && !hasReadyEndpoint(slices);
  return { port, localEndpoints: isAsleep ? 1 : localEndpoints };
}

/**
 * Gateways do not track connections that they sent on unchanged, so the next packet goes directly to a pod.
 * This node does not answer, and the client's retransmission takes that path.
 */
function forOutside(
  { endpoints, isReplayed, isExternalLocal }: FamilyPort,
  origin: AddressOrigin,
): ChosenEndpoints['cluster'] {
  if (isReplayed && origin === 'load-balancer') return [];
  return isExternalLocal ? endpoints.local : endpoints.cluster;
}

function held(holding: Holding, port: string): Dispatch {
  const { logGroup } = holding;
  const listener = holding.kind === 'accept' ? holding.listeners.get(port) : undefined;
  return listener === undefined ? { kind: 'hold', logGroup } : { kind: 'here', port: listener };
}

function insideBackends(backends: readonly Backend[]): Pick<VirtualService, 'insideBackends'> {
  return backends.length === 0 ? {} : { insideBackends: backends };
}

function isServing({ isServing: serves }: ServiceEndpoint): boolean {
  return serves;
}

function asBackend({ address, port }: Backend): Backend {
  return { address, port };
}

function readPort(number: number): Port | undefined {
  return number < 1 || number > 65_535 ? undefined : parsePort(number);
}
