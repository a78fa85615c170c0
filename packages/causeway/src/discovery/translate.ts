import type { Address } from '@causeway/base/address/address';
import { protocols } from '@causeway/base/address/port';
import type { Prefix } from '@causeway/base/address/prefix';
import type { Protocol } from '@causeway/kubernetes/objects/core-objects';
import { whyNoEndpoint } from './endpoint-address.ts';
import { readyMembers } from './member-readiness.ts';
import { portName } from './names.ts';
import type { Problem } from './problem.ts';
import type { ListenerView, LoadBalancerView, MemberView, PoolView } from './project-tree.ts';

export interface WantedEndpoint {
  readonly address: Address;
  readonly isReady: boolean;
  readonly weight: number;
}

/** The members of one listener with the same port and address family. */
export interface EndpointGroup {
  readonly memberPort: number;
  readonly family: 'IPv4' | 'IPv6';
  /** By address. */
  readonly endpoints: readonly WantedEndpoint[];
}

export interface WantedPort {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly appProtocol: string | undefined;
  readonly listener: Pick<ListenerView, 'id' | 'name' | 'protocol'>;
  readonly groups: readonly EndpointGroup[];
}

export interface Translation {
  /** By number and protocol. */
  readonly ports: readonly WantedPort[];
  readonly l7PoolIds: readonly string[];
  readonly problems: readonly Problem[];
}

/** The ports and endpoints of a load balancer. Parts without an equivalent are reported as problems. */
export function translate(
  loadBalancer: LoadBalancerView,
  memberNetworks: readonly Prefix[] = [],
): Translation {
  const problems: Problem[] = [];
  const accepted = acceptListeners(loadBalancer, problems);
  const taken = new Set(accepted.map(({ listener, protocol }) => `${listener.port}/${protocol}`));
  const ports = accepted.map(({ listener, protocol }): WantedPort => {
    const suffix = protocolSuffix(listener.port, protocol, taken);
    const { id, name, protocol: spoken } = listener;
    return {
      name: portName(name, listener.port, suffix),
      protocol,
      port: listener.port,
      appProtocol: protocol === 'TCP' ? appProtocolOf(listener) : undefined,
      listener: { id, name, protocol: spoken },
      groups: groupMembers(loadBalancer, listener, memberNetworks, problems),
    };
  });
  const l7PoolIds = [...new Set(accepted.flatMap(({ listener }) => listener.l7PoolIds))].sort();
  if (l7PoolIds.length > 0) {
    problems.push({
      severity: 'note',
      reason: 'L7PoolsLeftOut',
      message: `${l7PoolIds.length} pools are chosen by the content of requests; a Service can't do that, so only the listeners' default pools are endpoints`,
    });
  }
  return { ports, l7PoolIds, problems };
}

/** If protocols share a port number, TCP keeps the plain name, else UDP does. */
function protocolSuffix(port: number, protocol: Protocol, taken: ReadonlySet<string>) {
  const shares = (...others: readonly Protocol[]) =>
    others.some((other) => taken.has(`${port}/${other}`));
  switch (protocol) {
    case 'TCP':
      return '';
    case 'UDP':
      return shares('TCP') ? 'udp' : '';
    case 'SCTP':
      return shares('TCP', 'UDP') ? 'sctp' : '';
  }
}

interface Accepted {
  readonly listener: ListenerView;
  readonly protocol: Protocol;
}

function acceptListeners({ listeners }: LoadBalancerView, problems: Problem[]): Accepted[] {
  const taken = new Map<string, Accepted>();
  for (const listener of [...listeners].sort(byPortAndId)) {
    if (listener.protocol === 'PROMETHEUS') continue;
    const protocol = protocolOf(listener.protocol);
    if (protocol === undefined) {
      problems.push({
        severity: 'refusal',
        reason: 'ProtocolUnknown',
        message: `listener ${listener.id} on port ${listener.port} uses ${JSON.stringify(listener.protocol)}, which no Service supports; discovery skips the listener`,
      });
      continue;
    }
    const key = `${listener.port}/${protocol}`;
    const other = taken.get(key);
    if (other === undefined) taken.set(key, { listener, protocol });
    else {
      problems.push({
        severity: 'refusal',
        reason: 'PortTakenTwice',
        message: `listeners ${other.listener.id} and ${listener.id} are both on port ${key}; discovery skips the second`,
      });
    }
  }
  return [...taken.values()].sort(
    (left, right) =>
      left.listener.port - right.listener.port ||
      protocols.indexOf(left.protocol) - protocols.indexOf(right.protocol),
  );
}

function byPortAndId(left: ListenerView, right: ListenerView): number {
  return left.port - right.port || (left.id < right.id ? -1 : 1);
}

function protocolOf(listenerProtocol: string): Protocol | undefined {
  switch (listenerProtocol) {
    case 'TCP':
    case 'HTTP':
    case 'HTTPS':
    case 'TERMINATED_HTTPS':
      return 'TCP';
    case 'UDP':
    case 'SCTP':
      return listenerProtocol;
    default:
      return undefined;
  }
}

/**
 * The protocol that a client of a member must use: the load balancer, which terminates TLS, is not in
 * between.
 */
function appProtocolOf({ protocol, pool }: ListenerView): string | undefined {
  switch (pool?.protocol ?? protocol) {
    case 'HTTP':
      return pool?.tlsEnabled === true ? 'https' : 'http';
    case 'TERMINATED_HTTPS':
      return 'http';
    case 'HTTPS':
      return 'https';
    case 'TCP':
      // TLS is passed through: the members terminate it.
      return protocol === 'HTTPS' ? 'https' : undefined;
    default:
      return undefined;
  }
}

function groupMembers(
  loadBalancer: LoadBalancerView,
  listener: ListenerView,
  memberNetworks: readonly Prefix[],
  problems: Problem[],
): EndpointGroup[] {
  const { pool } = listener;
  if (pool === undefined) return [];
  reportProxyProtocol(pool, listener, problems);
  const isUp = loadBalancer.adminStateUp && listener.adminStateUp && pool.adminStateUp;
  const members = acceptMembers(pool, listener, memberNetworks, problems);
  // Backup members replace members that are left out, as any others that can't be used.
  const ready = readyMembers(members, isUp);
  const groups = new Map<string, Map<Address, WantedEndpoint>>();
  for (const member of members) {
    const { address, port, weight } = member;
    const key = `${String(port).padStart(5, '0')}/${address.includes(':') ? 'IPv6' : 'IPv4'}`;
    const group = groups.get(key) ?? new Map<Address, WantedEndpoint>();
    groups.set(key, group);
    const isReady = ready.has(member) || group.get(address)?.isReady === true;
    group.set(address, { address, isReady, weight });
  }
  return [...groups]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, endpoints]) => ({
      memberPort: Number(key.slice(0, 5)),
      family: key.endsWith('6') ? 'IPv6' : 'IPv4',
      endpoints: [...endpoints.values()].sort((left, right) =>
        left.address < right.address ? -1 : 1,
      ),
    }));
}

function acceptMembers(
  { members }: PoolView,
  listener: ListenerView,
  memberNetworks: readonly Prefix[],
  problems: Problem[],
): MemberView[] {
  return members.filter(({ address, port }) => {
    const refusal = whyNoEndpoint(address, memberNetworks);
    if (refusal === undefined) return true;
    problems.push({
      severity: 'refusal',
      reason: 'AddressRefused',
      message: `discovery skips member ${address}:${port} of listener ${listener.id}: ${refusal}`,
    });
    return false;
  });
}

function reportProxyProtocol(pool: PoolView, listener: ListenerView, problems: Problem[]): void {
  if (pool.protocol !== 'PROXY' && pool.protocol !== 'PROXYV2') return;
  problems.push({
    severity: 'warning',
    reason: 'ProxyProtocolExpected',
    message: `the members behind port ${listener.port} expect the PROXY protocol (${pool.protocol}); clients must send the PROXY protocol`,
  });
}
