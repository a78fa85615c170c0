import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import { tryParseAddress, type Address, type Family } from '@causeway/base/address/address';
import { parsePort, type Port } from '@causeway/base/address/port';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { Capabilities } from '@causeway/openstack/load-balancing/capabilities';
import type {
  AdditionalVip,
  ListenerTimeouts,
  SessionPersistence,
} from '@causeway/openstack/load-balancing/resources';
import type {
  Algorithm,
  HealthMonitorSettings,
  ListenerProtocol,
  MemberSpec,
  PoolProtocol,
} from '@causeway/openstack/load-balancing/specs';
import { allowedSources } from './allowed-sources.ts';
import { nodeAddress } from '../services/nodes.ts';
import type { Note } from './annotations.ts';
import type { KlbOptions, KlbPort, KlbSpec, KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import { askedTimeouts, timeoutsFrom } from './listener-timeouts.ts';
import { membersOf, servingNodes, vipFamily } from './members.ts';
import { CapabilityCheck } from './capability-check.ts';

/** The header that HTTP listeners add on request. */
export const forwardedFor = 'X-Forwarded-For';

export interface WantedPool {
  readonly name: string;
  readonly protocol: PoolProtocol;
  readonly algorithm: Algorithm;
  readonly persistence: SessionPersistence | null;
  readonly members: readonly MemberSpec[];
  readonly monitor: HealthMonitorSettings | undefined;
}

/**
 * The settings of a listener that can be changed after its creation. Undefined leaves a setting to Octavia.
 */
export interface WantedListenerSettings {
  readonly connectionLimit?: number;
  readonly timeouts?: ListenerTimeouts;
  /** null: every source. */
  readonly allowedCidrs?: readonly string[] | null;
  readonly insertHeaders?: Readonly<Record<string, string>>;
  readonly tlsContainerRef?: string;
}

export interface WantedListener {
  readonly name: string;
  readonly protocol: ListenerProtocol;
  readonly port: Port;
  readonly settings: WantedListenerSettings;
  readonly pool: WantedPool;
}

/** The desired state of a load balancer, to compare with Octavia. */
export interface WantedBalancer {
  readonly name: string;
  readonly projectId: string | undefined;
  readonly subnetId: string | undefined;
  readonly networkId: string | undefined;
  readonly portId: string | undefined;
  readonly address: Address | undefined;
  readonly additionalVips: readonly AdditionalVip[];
  readonly securityGroupIds: readonly string[];
  /** As requested; undefined leaves the choice to the cloud. */
  readonly provider: string | undefined;
  /** The known provider, also without a request. */
  readonly servingProvider: string | undefined;
  readonly flavorId: string | undefined;
  readonly availabilityZone: string | undefined;
  readonly listeners: readonly WantedListener[];
}

export type WantedReading =
  | { readonly kind: 'wanted'; readonly wanted: WantedBalancer; readonly notes: readonly Note[] }
  | { readonly kind: 'refused'; readonly reason: EventReason; readonly message: string };

export interface WantedInput {
  readonly klb: KuryrLoadBalancer;
  readonly nodes: Iterable<Node>;
  /** The family of the VIP's subnet, if known. */
  readonly subnetFamily: Family | undefined;
  /** Octavia's provider of the load balancer, if known. */
  readonly provider: string | undefined;
  readonly capabilities: Capabilities;
  /** Names of listeners that Octavia refused to create. */
  readonly skipped: ReadonlySet<string>;
}

/** Kuryr's name of a listener and of its pool. */
export function listenerName(klb: KuryrLoadBalancer, protocol: string, port: number): string {
  return `${balancerName(klb)}:${protocol}:${port}`;
}

export function balancerName({ metadata = {} }: KuryrLoadBalancer): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** The desired state from the spec, as far as Octavia and the provider support it. Notes the rest. */
export function wantedBalancer(input: WantedInput): WantedReading {
  const { klb, capabilities } = input;
  const spec = klb.spec ?? {};
  const can = new CapabilityCheck(capabilities, input.provider);
  const options = can.options(spec.options ?? {});
  if (options === undefined) {
    return {
      kind: 'refused',
      reason: 'SourceRangesUnsupported',
      message: `${can.subject} does not support source ranges, and without loadBalancerSourceRanges the load balancer would be open to every source. The controller removes the listeners of the Service. Remove the ranges, or use another provider.`,
    };
  }
  const securityGroupIds = can.securityGroups(spec.security_groups_ids ?? []);
  const wanted: WantedBalancer = {
    name: balancerName(klb),
    projectId: spec.project_id,
    subnetId: spec.subnet_id,
    networkId: options.network_id,
    portId: options.vip_port_id,
    address: spec.ip === undefined ? undefined : tryParseAddress(spec.ip),
    additionalVips: (options.additional_vips ?? []).map(({ subnet_id, ip }) => {
      const address = ip === undefined ? undefined : tryParseAddress(ip);
      return { subnetId: subnet_id, ...(address === undefined ? {} : { address }) };
    }),
    securityGroupIds,
    provider: spec.provider,
    servingProvider: input.provider,
    flavorId: options.flavor_id,
    availabilityZone: options.availability_zone,
    listeners: listenersOf(input, spec, options, can),
  };
  return { kind: 'wanted', wanted, notes: can.notes };
}

function listenersOf(
  input: WantedInput,
  spec: KlbSpec,
  options: KlbOptions,
  can: CapabilityCheck,
): WantedListener[] {
  const family = vipFamily(spec, input.subnetFamily);
  const sources = sourcesFor(family, options, can);
  const { nodes, isNoneReady } = servingNodes(input.klb, input.nodes);
  if (isNoneReady) {
    can.note(
      'NoReadyNode',
      `No node is ready. All ${nodes.length} nodes stay members until one is ready.`,
    );
  }
  for (const { metadata } of nodes.filter((node) => nodeAddress(node, family) === undefined)) {
    const message = `The node ${metadata?.name} has no address of IPv${family} and does not become a member.`;
    can.note('KuryrSkipMember', message);
  }
  const taken = new Set<number>();
  return (spec.ports ?? []).flatMap((port) => {
    const name = listenerName(input.klb, port.protocol, port.port);
    const protocol = can.listenerProtocol(listenerProtocol(port, options));
    if (protocol === undefined || input.skipped.has(name)) {
      can.note(
        'KuryrSkipListener',
        `${can.subject} does not support ${port.protocol} port ${port.port}; the other ports are served.`,
      );
      return [];
    }
    if (!can.samePort && taken.has(port.port)) {
      can.note(
        'KuryrSkipListener',
        `${can.subject} serves port ${port.port} in one protocol only; ${port.protocol} is not served.`,
      );
      return [];
    }
    taken.add(port.port);
    const poolProtocol = can.poolProtocol(poolProtocolFor(protocol, options), port.protocol);
    const members = membersOf(input.klb, port, family, nodes).map((member) =>
      can.memberMonitorPorts ? member : withoutMonitorPort(member),
    );
    return [
      {
        name,
        protocol,
        port: parsePort(port.port),
        settings: { ...listenerSettings(spec, options, protocol, can), ...sources },
        pool: {
          name,
          protocol: poolProtocol,
          algorithm: can.algorithm(options.algorithm),
          persistence: options.session_affinity === true ? { type: 'SOURCE_IP' } : null,
          members,
          monitor: monitorOf(name, options, port, can),
        },
      },
    ];
  });
}

function withoutMonitorPort(member: MemberSpec): MemberSpec {
  const { monitorPort: _, ...rest } = member;
  return rest;
}

function sourcesFor(
  family: Family,
  options: KlbOptions,
  can: CapabilityCheck,
): WantedListenerSettings {
  if (!can.allowedCidrs) return {};
  const { allowed, leftOut } = allowedSources(options.allowed_cidrs, family);
  if (leftOut.length > 0) {
    can.note(
      'SourceRangeIgnored',
      `The load balancer's address is of IPv${family}, and Octavia accepts sources of this family only: ${leftOut.join(', ')} can't connect.`,
    );
  }
  return { allowedCidrs: allowed };
}

function listenerProtocol({ protocol }: KlbPort, options: KlbOptions): ListenerProtocol {
  if (protocol !== 'TCP') return protocol;
  if (options.tls_container_ref !== undefined) return 'TERMINATED_HTTPS';
  return options.x_forwarded_for === true ? 'HTTP' : 'TCP';
}

function poolProtocolFor(protocol: ListenerProtocol, options: KlbOptions): PoolProtocol {
  if (protocol === 'UDP' || protocol === 'SCTP') return protocol;
  if (options.proxy_protocol !== undefined) return options.proxy_protocol;
  return protocol === 'TCP' ? 'TCP' : 'HTTP';
}

function listenerSettings(
  spec: KlbSpec,
  options: KlbOptions,
  protocol: ListenerProtocol,
  can: CapabilityCheck,
): WantedListenerSettings {
  const timeouts = timeoutsFrom(askedTimeouts({ ...spec, options }));
  const takesHeaders = protocol === 'HTTP' || protocol === 'TERMINATED_HTTPS';
  return {
    ...(options.connection_limit === undefined
      ? {}
      : { connectionLimit: options.connection_limit }),
    ...(Object.keys(timeouts).length > 0 && can.timeouts() ? { timeouts } : {}),
    ...(takesHeaders && options.x_forwarded_for === true
      ? { insertHeaders: { [forwardedFor]: 'true' } }
      : {}),
    ...(protocol === 'TERMINATED_HTTPS' && options.tls_container_ref !== undefined
      ? { tlsContainerRef: options.tls_container_ref }
      : {}),
  };
}

function monitorOf(
  name: string,
  { health_monitor: monitor }: KlbOptions,
  { protocol }: KlbPort,
  can: CapabilityCheck,
): HealthMonitorSettings | undefined {
  if (monitor === undefined) return undefined;
  const common = {
    name,
    delay: monitor.delay,
    timeout: monitor.timeout,
    maxRetries: monitor.max_retries,
    maxRetriesDown: monitor.max_retries_down,
  };
  const isByHttp = monitor.node_port !== undefined && (protocol === 'TCP' || can.udpByHttp);
  // Without HTTP, the monitor checks the port itself. Nodes without endpoints do not answer there either.
  if (isByHttp && can.monitorType('HTTP') && can.memberMonitorPorts) {
    return { ...common, type: 'HTTP', urlPath: '/healthz' };
  }
  const type = protocol === 'UDP' ? 'UDP-CONNECT' : protocol;
  return can.monitorType(type) ? { ...common, type } : undefined;
}
