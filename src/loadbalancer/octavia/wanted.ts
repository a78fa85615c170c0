import { tryParseAddress, type Address, type Family } from '../../domain/address.ts';
import { parsePort, type Port } from '../../domain/port.ts';
import type { Node } from '../../kube/core-objects.ts';
import type { Capabilities } from '../../openstack/load-balancing/capabilities.ts';
import type {
  AdditionalVip,
  ListenerTimeouts,
  SessionPersistence,
} from '../../openstack/load-balancing/resources.ts';
import type {
  Algorithm,
  HealthMonitorSettings,
  ListenerProtocol,
  MemberSpec,
  PoolProtocol,
} from '../../openstack/load-balancing/specs.ts';
import type { Note } from './annotations.ts';
import type { KlbOptions, KlbPort, KlbSpec, KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import { membersOf, vipFamily } from './members.ts';

export interface WantedPool {
  readonly name: string;
  readonly protocol: PoolProtocol;
  readonly algorithm: Algorithm;
  readonly persistence: SessionPersistence | null;
  readonly members: readonly MemberSpec[];
  readonly monitor: HealthMonitorSettings | undefined;
}

/** What of a listener can be changed after its creation; what is undefined is left to Octavia. */
export interface WantedListenerSettings {
  readonly connectionLimit?: number;
  readonly timeouts?: ListenerTimeouts;
  /** null: everybody. */
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

/** A load balancer as it should be: what Octavia is compared with. */
export interface WantedBalancer {
  readonly name: string;
  readonly projectId: string | undefined;
  readonly subnetId: string | undefined;
  readonly networkId: string | undefined;
  readonly portId: string | undefined;
  readonly address: Address | undefined;
  readonly additionalVips: readonly AdditionalVip[];
  readonly securityGroupIds: readonly string[];
  readonly provider: string | undefined;
  readonly flavorId: string | undefined;
  readonly availabilityZone: string | undefined;
  readonly listeners: readonly WantedListener[];
}

export type WantedReading =
  | { readonly kind: 'wanted'; readonly wanted: WantedBalancer; readonly notes: readonly Note[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

export interface WantedInput {
  readonly klb: KuryrLoadBalancer;
  readonly nodes: Iterable<Node>;
  /** Of the subnet of the VIP, where it is known. */
  readonly subnetFamily: Family | undefined;
  readonly capabilities: Capabilities;
  /** Listeners that the service has refused to make as they are, by name. */
  readonly skipped: ReadonlySet<string>;
}

/** Kuryr's name of a listener and of its pool. */
export function listenerName(klb: KuryrLoadBalancer, protocol: string, port: number): string {
  return `${balancerName(klb)}:${protocol}:${port}`;
}

export function balancerName({ metadata = {} }: KuryrLoadBalancer): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** What the spec asks for, as far as this service and provider can do it; the rest is noted. */
export function wantedBalancer(input: WantedInput): WantedReading {
  const { klb, capabilities } = input;
  const spec = klb.spec ?? {};
  const can = new Possible(capabilities, spec.provider);
  const options = can.options(spec.options ?? {});
  if (options === undefined) {
    return {
      kind: 'refused',
      reason: 'SourceRangesUnsupported',
      message: `${can.who} can't restrict sources, and without loadBalancerSourceRanges everybody could connect. Remove them, or use another provider.`,
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
  can: Possible,
): WantedListener[] {
  const family = vipFamily(spec, input.subnetFamily);
  const taken = new Set<number>();
  return (spec.ports ?? []).flatMap((port) => {
    const name = listenerName(input.klb, port.protocol, port.port);
    const protocol = can.listenerProtocol(listenerProtocol(port, options));
    if (protocol === undefined || input.skipped.has(name)) {
      can.note(
        'KuryrSkipListener',
        `${can.who} can't serve ${port.protocol} port ${port.port}; it is left out.`,
      );
      return [];
    }
    if (!can.samePort && taken.has(port.port)) {
      can.note(
        'KuryrSkipListener',
        `${can.who} serves port ${port.port} in one protocol only; ${port.protocol} is left out.`,
      );
      return [];
    }
    taken.add(port.port);
    const poolProtocol = can.poolProtocol(poolProtocolFor(protocol, options), port.protocol);
    const members = membersOf(input.klb, port, family, input.nodes);
    return [
      {
        name,
        protocol,
        port: parsePort(port.port),
        settings: listenerSettings(spec, options, protocol, can),
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
  can: Possible,
): WantedListenerSettings {
  const timeouts: ListenerTimeouts = {
    ...(spec.timeout_client_data === undefined ? {} : { clientData: spec.timeout_client_data }),
    ...(spec.timeout_member_data === undefined ? {} : { memberData: spec.timeout_member_data }),
    ...(options.timeout_member_connect === undefined
      ? {}
      : { memberConnect: options.timeout_member_connect }),
    ...(options.timeout_tcp_inspect === undefined
      ? {}
      : { tcpInspect: options.timeout_tcp_inspect }),
  };
  const takesHeaders = protocol === 'HTTP' || protocol === 'TERMINATED_HTTPS';
  return {
    ...(options.connection_limit === undefined
      ? {}
      : { connectionLimit: options.connection_limit }),
    ...(Object.keys(timeouts).length > 0 && can.timeouts() ? { timeouts } : {}),
    ...(can.allowedCidrs ? { allowedCidrs: options.allowed_cidrs ?? null } : {}),
    ...(takesHeaders && options.x_forwarded_for === true
      ? { insertHeaders: { 'X-Forwarded-For': 'true' } }
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
  can: Possible,
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
  if (isByHttp) return { ...common, type: 'HTTP', urlPath: '/healthz' };
  const type = protocol === 'UDP' ? 'UDP-CONNECT' : protocol;
  return { ...common, type };
}

/** What the service and the provider can do of what was asked; notes the rest. */
class Possible {
  readonly notes: Note[] = [];
  readonly who: string;
  readonly #capabilities: Capabilities;

  constructor(capabilities: Capabilities, provider: string | undefined) {
    this.#capabilities = capabilities;
    this.who = provider === undefined ? 'This load balancing service' : `The provider ${provider}`;
  }

  get samePort(): boolean {
    return this.#capabilities.samePortTwoProtocols;
  }

  get allowedCidrs(): boolean {
    return this.#capabilities.allowedCidrs;
  }

  get udpByHttp(): boolean {
    return this.#capabilities.udpMonitorByTcp;
  }

  note(reason: string, message: string): void {
    if (!this.notes.some((known) => known.message === message))
      this.notes.push({ reason, message });
  }

  /** The options that can be had; undefined when leaving one out would open what is to be closed. */
  options(asked: KlbOptions): KlbOptions | undefined {
    const { flavors, availabilityZones, additionalVips, allowedCidrs } = this.#capabilities;
    if (asked.allowed_cidrs !== undefined && !allowedCidrs) return undefined;
    const { flavor_id, availability_zone, additional_vips, ...rest } = asked;
    return {
      ...rest,
      ...this.#keep('flavor_id', flavor_id, flavors, 'flavors'),
      ...this.#keep(
        'availability_zone',
        availability_zone,
        availabilityZones,
        'availability zones',
      ),
      ...this.#keep('additional_vips', additional_vips, additionalVips, 'a second address'),
    };
  }

  securityGroups(asked: readonly string[]): readonly string[] {
    if (asked.length === 0 || this.#capabilities.vipSecurityGroups) return asked;
    this.#lacks('security groups for VIPs');
    return [];
  }

  timeouts(): boolean {
    if (!this.#capabilities.timeouts) this.#lacks('timeouts');
    return this.#capabilities.timeouts;
  }

  listenerProtocol(asked: ListenerProtocol): ListenerProtocol | undefined {
    const { listenerProtocols } = this.#capabilities;
    if (listenerProtocols.includes(asked)) return asked;
    const isHttp = asked === 'HTTP' || asked === 'TERMINATED_HTTPS';
    if (!isHttp || asked === 'TERMINATED_HTTPS') return undefined;
    this.#lacks('X-Forwarded-For');
    return listenerProtocols.includes('TCP') ? 'TCP' : undefined;
  }

  poolProtocol(asked: PoolProtocol, plain: 'TCP' | 'UDP' | 'SCTP'): PoolProtocol {
    if (this.#capabilities.poolProtocols.includes(asked)) return asked;
    this.#lacks(asked === 'HTTP' ? 'HTTP' : 'the proxy protocol');
    return plain;
  }

  algorithm(asked: string | undefined): Algorithm {
    const { algorithms } = this.#capabilities;
    const found = algorithms.find((algorithm) => algorithm === asked);
    if (found !== undefined) return found;
    const [first = 'ROUND_ROBIN'] = algorithms;
    if (asked !== undefined) this.#lacks(`the algorithm ${asked}; it uses ${first}`);
    return first;
  }

  #keep<Name extends keyof KlbOptions>(
    name: Name,
    value: KlbOptions[Name],
    isPossible: boolean,
    what: string,
  ): KlbOptions {
    if (value === undefined) return {};
    if (isPossible) return { [name]: value };
    this.#lacks(what);
    return {};
  }

  #lacks(what: string): void {
    this.note(
      'OptionUnsupported',
      `${this.who} has no ${what}; that is left out, the rest is served.`,
    );
  }
}
