import { createHash } from 'node:crypto';
import { familyOf, type Address } from '@causeway/base/address/address';
import type { Port } from '@causeway/base/address/port';
import { formatPrefix } from '@causeway/base/address/prefix';
import { frontendKey, type Frontend, type FrontendKey } from '../../protocol/frontend.ts';
import type {
  Assignment,
  IngressRule,
  Policy,
  PolicyKey,
  PortFilter,
} from '../../protocol/policy.ts';

/** The desired state of a gateway. */
export interface GatewayContent {
  readonly frontends: Iterable<Frontend>;
  readonly nodes: Iterable<Address>;
  readonly policies: ReadonlyMap<PolicyKey, Policy>;
  readonly assignments: Iterable<Assignment>;
}

export interface V1Config {
  /** The claim `load-balancer-config`. */
  readonly claim: object;
  /**
   * The frontends that the agent of ch-k8s-lbaas can't serve, with the reason. They are left out, so that the
   * rest is served.
   */
  readonly problems: ReadonlyMap<FrontendKey, string>;
}

/**
 * The configuration for the agent of ch-k8s-lbaas. The order is fixed, so that equal states give equal
 * configurations.
 */
export function writeV1Config(content: GatewayContent): V1Config {
  const nodes = [...content.nodes];
  const problems = new Map<FrontendKey, string>();
  const ingress = new Map<Address, object[]>();
  for (const frontend of [...content.frontends].sort(byKey)) {
    const port = portOf(frontend, nodes);
    if (typeof port === 'string') problems.set(frontendKey(frontend), port);
    else ingress.set(frontend.address, [...(ingress.get(frontend.address) ?? []), port]);
  }
  const policies = new PolicyWriter(content.policies);
  const assignments = [...content.assignments]
    .filter(({ address }) => familyOf(address) === 4)
    .sort((left, right) => (left.address < right.address ? -1 : 1))
    .map((assignment) => ({
      address: assignment.address,
      'network-policies': assignment.policies.map((key) => policies.nameFor(key, assignment)),
    }));
  return {
    claim: {
      ingress: [...ingress].map(([address, ports]) => ({ address, ports })),
      'network-policies': policies.written,
      'policy-assignments': assignments,
    },
    problems,
  };
}

function byKey(left: Frontend, right: Frontend): number {
  return frontendKey(left) < frontendKey(right) ? -1 : 1;
}

/** The port in the agent's format, or the reason why the agent can't serve it. */
function portOf(frontend: Frontend, nodes: readonly Address[]): object | string {
  const { address, protocol, port, sourceRanges, routedTo } = frontend;
  if (familyOf(address) === 6) return "ch-k8s-lbaas's agent serves IPv4 only";
  if (protocol === 'SCTP') return "ch-k8s-lbaas's agent serves TCP and UDP only";
  // Serving the port to all clients would be worse than not serving it.
  if (sourceRanges.length > 0) return "ch-k8s-lbaas's agent does not support source ranges";
  if (routedTo !== undefined) return "ch-k8s-lbaas's agent can't send to nodes unchanged";
  const target = targetOf(frontend, nodes);
  if (typeof target === 'string') return target;
  return {
    protocol,
    'inbound-port': port,
    'destination-addresses': target.addresses,
    'destination-port': target.port,
    policy: '',
  };
}

function targetOf(
  { address, port, nodePort, destinations: all }: Frontend,
  nodes: readonly Address[],
): { addresses: readonly Address[]; port: Port } | string {
  if (nodePort !== undefined) {
    const ofFamily = nodes.filter((node) => familyOf(node) === familyOf(address));
    return { addresses: ofFamily.sort(), port: nodePort };
  }
  // Draining is unknown to that agent. It keeps running connections by itself.
  const destinations = all.filter(({ weight }) => weight > 0);
  const ports = new Set(destinations.map((destination) => destination.port));
  if (ports.size > 1) return "ch-k8s-lbaas's agent supports only one port for all destinations";
  const [only = port] = ports;
  return { addresses: destinations.map((destination) => destination.address), port: only };
}

/**
 * Writes policies under names that include the namespace. A policy with named ports is written once for each
 * resolution by pods, because the agent supports numbers only.
 */
class PolicyWriter {
  readonly written: object[] = [];
  readonly #policies: ReadonlyMap<PolicyKey, Policy>;
  /** The written names, each with the policy and variant that it stands for. */
  readonly #names = new Map<string, string>();

  constructor(policies: ReadonlyMap<PolicyKey, Policy>) {
    this.#policies = policies;
  }

  nameFor(key: PolicyKey, assignment: Assignment): string {
    const policy = this.#policies.get(key);
    const rules = (policy?.ingress ?? []).flatMap((rule) => ruleOf(rule, assignment));
    const usesNames = policy?.ingress.some(({ ports }) =>
      ports?.some(({ port }) => typeof port === 'string'),
    );
    const variant = usesNames === true ? `-${digest(JSON.stringify(rules))}` : '';
    const identity = `${key} ${variant}`;
    const name = this.#freeName(`${shorten(key)}${variant}`, identity);
    if (!this.#names.has(name)) {
      this.#names.set(name, identity);
      this.written.push({ name, 'allowed-ingresses': rules });
    }
    return name;
  }

  /** Another policy can have a name that looks like a prefixed or shortened one. */
  #freeName(name: string, identity: string): string {
    const owner = this.#names.get(name);
    return owner === undefined || owner === identity ? name : this.#freeName(`${name}-x`, identity);
  }
}

/**
 * A rule without sources or ports admits all of them. A rule whose sources or ports can't be expressed admits
 * nothing.
 */
function ruleOf({ from, ports }: IngressRule, assignment: Assignment): object[] {
  const blocks = from
    ?.filter(({ cidr }) => familyOf(cidr.address) === 4)
    .map(({ cidr, except }) => ({ allow: formatPrefix(cidr), block: except.map(formatPrefix) }));
  const filters = ports?.flatMap((filter) => filterOf(filter, assignment));
  if (blocks?.length === 0 || filters?.length === 0) return [];
  return [{ 'ipblock-filters': blocks ?? [], 'port-filters': filters ?? [] }];
}

function filterOf({ protocol, port, endPort }: PortFilter, { namedPorts }: Assignment): object[] {
  if (protocol === 'SCTP') return [];
  if (port === undefined) return [{ protocol }];
  if (typeof port === 'string') {
    return namedPorts
      .filter((named) => named.name === port && named.protocol === protocol)
      .map((named) => ({ protocol, port: named.port }));
  }
  // The agent rejects the whole configuration if both are equal.
  const isRange = endPort !== undefined && endPort !== port;
  return [{ protocol, port, ...(isRange ? { 'end-port': endPort } : {}) }];
}

/**
 * The agent uses it in the name of a chain: letters, digits, dots and hyphens, with a limited length. nft can't
 * parse a name that begins with a digit, which namespaces can.
 */
function shorten(key: PolicyKey): string {
  const text = key.replace('/', '.');
  const name = /^[0-9]/.test(text) ? `n-${text}` : text;
  return name.length <= 100 ? name : `${name.slice(0, 87)}-${digest(name)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
