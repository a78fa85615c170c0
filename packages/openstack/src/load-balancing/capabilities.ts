import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Algorithm, HealthMonitorType, ListenerProtocol, PoolProtocol } from './specs.ts';

/** Supported features of load balancers, derived from the API version and the provider. */
export interface Capabilities {
  readonly fullTree: boolean;
  readonly cascade: boolean;
  readonly batchMembers: boolean;
  readonly additiveBatch: boolean;
  readonly tags: boolean;
  readonly flavors: boolean;
  readonly availabilityZones: boolean;
  readonly allowedCidrs: boolean;
  readonly timeouts: boolean;
  readonly additionalVips: boolean;
  readonly vipSecurityGroups: boolean;
  readonly l7: boolean;
  /** TCP and UDP listeners on the same port number. */
  readonly samePortTwoProtocols: boolean;
  /** TCP or HTTP monitors of UDP pools. */
  readonly udpMonitorByTcp: boolean;
  readonly listenerProtocols: readonly ListenerProtocol[];
  readonly poolProtocols: readonly PoolProtocol[];
  readonly algorithms: readonly Algorithm[];
  readonly monitorTypes: readonly HealthMonitorType[];
  /** Members with a separate monitor port. */
  readonly memberMonitorPorts: boolean;
}

/** A version of Octavia's API such as v2.26, by its minor number. */
export type OctaviaMinor = number;

const plainMonitors = ['TCP', 'HTTP', 'HTTPS', 'PING'] as const;

const withoutHttp = ['TCP', 'UDP', 'SCTP'] as const;

/** Octavia has no microversion header: features depend on the minor version in its root document. */
export function octaviaCapabilities(minor: OctaviaMinor, provider?: string): Capabilities {
  const ovn = provider === 'ovn';
  const sctp = minor >= 23;
  const transport = withoutHttp.filter((protocol) => sctp || protocol !== 'SCTP');
  return {
    fullTree: true,
    cascade: true,
    batchMembers: true,
    additiveBatch: minor >= 11,
    tags: minor >= 5,
    flavors: minor >= 6 && !ovn,
    availabilityZones: minor >= 14 && !ovn,
    allowedCidrs: minor >= 12 && !ovn,
    timeouts: minor >= 1 && !ovn,
    additionalVips: minor >= 26,
    vipSecurityGroups: minor >= 29 && !ovn,
    l7: !ovn,
    samePortTwoProtocols: minor >= 13,
    udpMonitorByTcp: minor >= 16 && !ovn,
    listenerProtocols: ovn ? transport : [...transport, 'HTTP', 'HTTPS', 'TERMINATED_HTTPS'],
    poolProtocols: ovn
      ? transport
      : [...transport, 'HTTP', 'HTTPS', 'PROXY', ...(minor >= 22 ? (['PROXYV2'] as const) : [])],
    algorithms: ovn
      ? ['SOURCE_IP_PORT']
      : [
          'ROUND_ROBIN',
          'LEAST_CONNECTIONS',
          'SOURCE_IP',
          ...(minor >= 13 ? (['SOURCE_IP_PORT'] as const) : []),
        ],
    monitorTypes: ovn
      ? ['TCP', 'UDP-CONNECT']
      : [...plainMonitors, 'TLS-HELLO', 'UDP-CONNECT', ...(sctp ? (['SCTP'] as const) : [])],
    memberMonitorPorts: !ovn,
  };
}

export const lbaasV2Capabilities: Capabilities = {
  fullTree: false,
  cascade: false,
  batchMembers: false,
  additiveBatch: false,
  tags: false,
  flavors: false,
  availabilityZones: false,
  allowedCidrs: false,
  timeouts: false,
  additionalVips: false,
  vipSecurityGroups: false,
  l7: false,
  samePortTwoProtocols: false,
  udpMonitorByTcp: false,
  listenerProtocols: ['TCP', 'HTTP', 'HTTPS', 'TERMINATED_HTTPS'],
  poolProtocols: ['TCP', 'HTTP', 'HTTPS'],
  algorithms: ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP'],
  monitorTypes: plainMonitors,
  memberMonitorPorts: false,
};

/** The capability that a field of a spec or a filter needs. */
const needs: Readonly<Record<string, keyof Capabilities>> = {
  tags: 'tags',
  flavorId: 'flavors',
  availabilityZone: 'availabilityZones',
  allowedCidrs: 'allowedCidrs',
  timeouts: 'timeouts',
  additionalVips: 'additionalVips',
  vipSecurityGroupIds: 'vipSecurityGroups',
};

/**
 * The value without empty fields that the service does not support. A non-empty unsupported field is rejected
 * before anything is sent: without its allowed sources, for example, a load balancer would be open to all.
 */
export function supportedPart<T extends object>(capabilities: Capabilities, value: T): T {
  const entries = Object.entries(value) as [string, unknown][];
  return Object.fromEntries(
    entries.flatMap(([field, content]) => {
      const capability = needs[field];
      if (capability === undefined || capabilities[capability] !== false) {
        return [[field, supportedContent(capabilities, content)]];
      }
      if (content === undefined || (Array.isArray(content) && content.length === 0)) return [];
      throw new CausewayError('unsupported', `this load balancing service has no ${field}`, {
        hint: 'Remove it, or use a newer service or another provider.',
      });
    }),
  ) as T;
}

function supportedContent(capabilities: Capabilities, content: unknown): unknown {
  if (Array.isArray(content)) return content.map((part) => supportedContent(capabilities, part));
  return typeof content === 'object' && content !== null
    ? supportedPart(capabilities, content)
    : content;
}
