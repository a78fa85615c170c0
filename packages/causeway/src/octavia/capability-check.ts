import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { Capabilities } from '@causeway/openstack/load-balancing/capabilities';
import type {
  Algorithm,
  HealthMonitorType,
  ListenerProtocol,
  PoolProtocol,
} from '@causeway/openstack/load-balancing/specs';
import type { Note } from './annotations.ts';
import type { KlbOptions } from './kuryr-load-balancer.ts';

/** Checks which requests Octavia and the provider support, and notes the others. */
export class CapabilityCheck {
  readonly notes: Note[] = [];
  readonly subject: string;
  readonly #capabilities: Capabilities;

  constructor(capabilities: Capabilities, provider: string | undefined) {
    this.#capabilities = capabilities;
    this.subject =
      provider === undefined ? 'This load balancing service' : `The provider ${provider}`;
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

  note(reason: EventReason, message: string): void {
    if (!this.notes.some((known) => known.message === message))
      this.notes.push({ reason, message });
  }

  /** The supported options; undefined if the omission of one would open access that must stay closed. */
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

  /** The health check port of a node, which differs from the port of the traffic. */
  get memberMonitorPorts(): boolean {
    return this.#capabilities.memberMonitorPorts;
  }

  monitorType(asked: HealthMonitorType): boolean {
    const isSupported = this.#capabilities.monitorTypes.includes(asked);
    if (!isSupported) this.#lacks(`health monitors by ${asked}`);
    return isSupported;
  }

  algorithm(asked: string | undefined): Algorithm {
    const { algorithms } = this.#capabilities;
    const found = algorithms.find((algorithm) => algorithm === asked);
    if (found !== undefined) return found;
    const [first = 'ROUND_ROBIN'] = algorithms;
    if (asked !== undefined)
      this.#lacks(`the algorithm ${asked} (the load balancer uses ${first} instead)`);
    return first;
  }

  #keep<Name extends keyof KlbOptions>(
    name: Name,
    value: KlbOptions[Name],
    isSupported: boolean,
    what: string,
  ): KlbOptions {
    if (value === undefined) return {};
    if (isSupported) return { [name]: value };
    this.#lacks(what);
    return {};
  }

  #lacks(what: string): void {
    this.note(
      'OptionUnsupported',
      `${this.subject} does not support ${what}. The rest of the request is served.`,
    );
  }
}
