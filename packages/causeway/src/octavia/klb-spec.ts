import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { formatPrefix, parsePrefix } from '@causeway/base/address/prefix';
import { quoted } from '@causeway/base/text/text-limit';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { budgetExcess } from '@causeway/kubernetes/objects/service-budget';
import { budgetedFrontend } from '../services/budgeted-frontend.ts';
import type { FrontendSpec } from '../services/frontend-spec.ts';
import {
  addressAnnotation,
  AnnotationReader,
  idledAtAnnotation,
  type Note,
} from './annotations.ts';
import { keepFloatingIpAnnotation, kuryrClientTimeout, kuryrMemberTimeout } from './annotations.ts';
import { internalAnnotation, projectAnnotation, securityGroupsAnnotation } from './annotations.ts';
import { toKlbSlices } from './endpoint-slices.ts';
import type { KlbHealthMonitor, KlbOptions, KlbPort, KlbSpec } from './kuryr-load-balancer.ts';
import type { OctaviaSettings } from './settings.ts';

export interface TranslationInput {
  readonly frontend: FrontendSpec;
  readonly slices: readonly EndpointSlice[];
  readonly settings: OctaviaSettings;
  /** IDs of the subnets of the VIPs. */
  readonly subnets: ReadonlyMap<Family, string>;
}

export type Translation =
  | { readonly kind: 'spec'; readonly spec: KlbSpec; readonly notes: readonly Note[] }
  | { readonly kind: 'refused'; readonly reason: EventReason; readonly message: string };

/** Translates a Service and its endpoints into the spec of a KuryrLoadBalancer. */
export function translate(input: TranslationInput): Translation {
  const { frontend, slices, settings } = input;
  const excess = budgetExcess(budgetedFrontend(frontend), slices);
  if (excess !== undefined) return { kind: 'refused', ...excess };
  const reader = new AnnotationReader(frontend, settings.classes);
  const ports = portsOf(frontend);
  const vip = readVip(input, reader);
  if (vip.kind === 'refused') return vip;
  const members = readMembers(slices, settings, ports, reader);
  const options = readOptions(input, members.member_mode, reader);
  const { provider } = settings;
  const project = reader.choice(settings.projects, projectAnnotation) ?? settings.project;
  const securityGroups = [
    ...new Set([...settings.securityGroups, ...reader.list(securityGroupsAnnotation)]),
  ];
  const clientTimeout = reader.number(0, kuryrClientTimeout, 'timeout-client-data');
  const memberTimeout = reader.number(0, kuryrMemberTimeout, 'timeout-member-data');
  const spec: KlbSpec = {
    type: frontend.exposure === 'external' ? 'LoadBalancer' : 'ClusterIP',
    ...vip.spec,
    ports,
    endpointSlices: toKlbSlices(slices),
    ...defined('project_id', project),
    ...(securityGroups.length === 0 ? {} : { security_groups_ids: securityGroups }),
    ...defined('provider', provider),
    ...defined('timeout_client_data', clientTimeout),
    ...defined('timeout_member_data', memberTimeout),
    options: { ...options, ...vip.options, ...members },
  };
  return { kind: 'spec', spec, notes: reader.notes };
}

interface Vip {
  readonly kind: 'vip';
  readonly spec: Pick<KlbSpec, 'ip' | 'lb_ip' | 'subnet_id'>;
  readonly options: KlbOptions;
}

/** The internal address and, if there is one, the external address. */
function readVip(
  { frontend, settings, subnets }: TranslationInput,
  reader: AnnotationReader,
): Vip | Extract<Translation, { kind: 'refused' }> {
  const requested = readDesired(frontend, reader);
  if ('reason' in requested) return { kind: 'refused', ...requested };
  const isBalancer = frontend.exposure === 'external';
  const usesClusterIp = settings.vip === 'ClusterIP' || !isBalancer;
  const networkId = reader.text('network-id');
  const givenSubnet = reader.text('subnet-id');
  const { families } = frontend;
  const [first = 4] = families;
  const subnet = givenSubnet ?? (networkId === undefined ? subnets.get(first) : undefined);
  if (subnet === undefined && networkId === undefined) {
    return refused('NoSubnet', `There is no subnet for IPv${first}: set octavia.subnets.`);
  }
  const floatingNetwork = reader.text('floating-network-id') ?? settings.floatingNetwork;
  const isInternal =
    !isBalancer ||
    (reader.flag(internalAnnotation) ?? false) ||
    floatingNetwork === undefined ||
    // Neutron has no floating IPs of IPv6: the VIP itself is routed.
    first === 6;
  const firstRequested = requested.find((address) => familyOf(address) === first) ?? requested[0];
  const ip = usesClusterIp ? clusterIps(frontend)[0] : isInternal ? firstRequested : undefined;
  const others = usesClusterIp
    ? clusterIps(frontend).slice(1)
    : requested.filter((address) => address !== firstRequested);
  return {
    kind: 'vip',
    spec: {
      ...defined('ip', ip),
      ...(isInternal || firstRequested === undefined ? {} : { lb_ip: firstRequested }),
      ...defined('subnet_id', subnet),
    },
    options: {
      ...defined('network_id', networkId),
      ...(isInternal
        ? { internal: true }
        : {
            ...defined('floating_network_id', floatingNetwork),
            ...floatingOptions(settings, reader),
          }),
      ...additionalVips(families.slice(1), subnets, others),
    },
  };
}

function floatingOptions(settings: OctaviaSettings, reader: AnnotationReader): KlbOptions {
  const name = reader.text('floating-subnet');
  const tags = reader.text('floating-subnet-tags');
  const isChosen = name !== undefined || tags !== undefined;
  const id = reader.text('floating-subnet-id') ?? (isChosen ? undefined : settings.floatingSubnet);
  return {
    ...defined('floating_subnet_id', id),
    ...defined('floating_subnet', id === undefined ? name : undefined),
    ...defined('floating_subnet_tags', id === undefined ? tags : undefined),
    ...(readKeeping(reader) === true ? { keep_floating_ip: true } : {}),
  };
}

/** Whether the floating IP outlives the Service; undefined without a readable annotation. */
export function keepsFloatingIp(frontend: FrontendSpec): boolean | undefined {
  return readKeeping(new AnnotationReader(frontend));
}

function readKeeping(reader: AnnotationReader): boolean | undefined {
  return reader.flag(keepFloatingIpAnnotation, 'keep-floatingip');
}

function additionalVips(
  families: readonly Family[],
  subnets: ReadonlyMap<Family, string>,
  addresses: readonly Address[],
): KlbOptions {
  const vips = families.flatMap((family) => {
    const subnet_id = subnets.get(family);
    const ip = addresses.find((address) => familyOf(address) === family);
    return subnet_id === undefined ? [] : [{ subnet_id, ...defined('ip', ip) }];
  });
  return vips.length === 0 ? {} : { additional_vips: vips };
}

/**
 * The requested address, or one for each family: by Causeway's annotation, OCCM's, or the deprecated field of
 * Kubernetes.
 */
function readDesired(
  frontend: FrontendSpec,
  reader: AnnotationReader,
): readonly Address[] | { readonly reason: EventReason; readonly message: string } {
  const text = reader.text(addressAnnotation, 'load-balancer-address') ?? frontend.requestedAddress;
  if (text === undefined || text === '') return [];
  const addresses: Address[] = [];
  for (const part of text.split(',').map((side) => side.trim())) {
    const address = tryParseAddress(part);
    if (address === undefined) {
      return { reason: 'InvalidAddress', message: `${quoted(part)} is not an IP address.` };
    }
    addresses.push(address);
  }
  return addresses;
}

const algorithms = ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP', 'SOURCE_IP_PORT'] as const;

function readOptions(
  { frontend, settings }: TranslationInput,
  mode: KlbOptions['member_mode'],
  reader: AnnotationReader,
): KlbOptions {
  const proxy = reader.choice(['true', 'false', 'v1', 'v2'], 'proxy-protocol');
  return {
    ...defined('vip_port_id', reader.text('port-id')),
    ...defined('loadbalancer_id', reader.text('load-balancer-id')),
    ...defined('hostname', reader.text('hostname')),
    ...defined('algorithm', reader.choice(algorithms, 'lb-method') ?? settings.algorithm),
    ...readSources(frontend, reader),
    ...defined('connection_limit', reader.number(-1, 'connection-limit')),
    ...(proxy === undefined || proxy === 'false'
      ? {}
      : { proxy_protocol: proxy === 'v2' ? ('PROXYV2' as const) : ('PROXY' as const) }),
    ...(reader.flag('x-forwarded-for') === true ? { x_forwarded_for: true } : {}),
    ...defined('tls_container_ref', reader.text('default-tls-container-ref')),
    ...defined('timeout_member_connect', reader.number(0, 'timeout-member-connect')),
    ...defined('timeout_tcp_inspect', reader.number(0, 'timeout-tcp-inspect')),
    ...defined('flavor_id', reader.text('flavor-id') ?? settings.flavor),
    ...defined('availability_zone', reader.text('availability-zone') ?? settings.availabilityZone),
    ...(frontend.policy.affinity === 'client' ? { session_affinity: true } : {}),
    ...readMonitor(frontend, settings, mode, reader),
  };
}

/** An unreadable range allows no source. Skipping it is safe; ignoring all ranges would not be. */
function readSources(frontend: FrontendSpec, reader: AnnotationReader): KlbOptions {
  const ranges = frontend.policy.sourceRanges;
  if (frontend.exposure !== 'external' || ranges.length === 0) return {};
  const allowed = ranges.flatMap((range) => {
    try {
      return [formatPrefix(parsePrefix(range.trim()))];
    } catch {
      const message = `${quoted(range)} in loadBalancerSourceRanges is not a network, so this range allows no source.`;
      reader.notes.push({ reason: 'SourceRangeIgnored', message });
      return [];
    }
  });
  // An empty list would allow every source.
  return { allowed_cidrs: allowed.length === 0 ? ['127.0.0.1/32'] : [...new Set(allowed)].sort() };
}

/** Octavia's limit. */
const mostRetries = 10;

function readMonitor(
  frontend: FrontendSpec,
  settings: OctaviaSettings,
  mode: KlbOptions['member_mode'],
  reader: AnnotationReader,
): KlbOptions {
  const { healthMonitor: defaults } = settings;
  const { trafficPolicy, healthCheckNodePort } = frontend.backends;
  // Nodes without endpoints drop their traffic. Only the health port shows which nodes have endpoints. Pods
  // have no such port.
  const isLocal =
    mode === 'NodePort' && trafficPolicy === 'Local' && healthCheckNodePort !== undefined;
  const enabled = reader.flag('enable-health-monitor') ?? (defaults.enabled || isLocal);
  if (!enabled) return {};
  const monitor: KlbHealthMonitor = {
    delay: reader.number(1, 'health-monitor-delay') ?? defaults.delay,
    timeout: reader.number(1, 'health-monitor-timeout') ?? defaults.timeout,
    max_retries:
      reader.numberWithin(1, mostRetries, 'health-monitor-max-retries') ?? defaults.maxRetries,
    max_retries_down:
      reader.numberWithin(1, mostRetries, 'health-monitor-max-retries-down') ??
      defaults.maxRetriesDown,
    ...(isLocal ? defined('node_port', healthCheckNodePort) : {}),
  };
  return { health_monitor: monitor };
}

/**
 * Pods or nodes. An idle Service has no pods: its node ports are the members, because a connection there
 * wakes the Service.
 */
function readMembers(
  slices: readonly EndpointSlice[],
  settings: OctaviaSettings,
  ports: readonly KlbPort[],
  reader: AnnotationReader,
): KlbOptions {
  if (slices.some(({ addressType }) => addressType === 'FQDN')) {
    const message = 'The load balancer has no members for endpoints that are names, not addresses.';
    reader.notes.push({ reason: 'KuryrSkipMember', message });
  }
  const isIdle = reader.text(idledAtAnnotation) !== undefined && !hasReadyEndpoint(slices);
  const hasNodePorts = ports.every(({ nodePort }) => nodePort !== undefined);
  if (isIdle && !hasNodePorts) {
    const message =
      "The Service is idle and has no node ports, so a connection to the load balancer can't wake the Service.";
    reader.notes.push({ reason: 'CannotBeWoken', message });
  }
  const mode = settings.members === 'NodePort' || (isIdle && hasNodePorts) ? 'NodePort' : 'Pod';
  if (mode === 'NodePort' && !hasNodePorts) {
    const message =
      'The Service has no node ports, so the load balancer sends to the pods. Set allocateLoadBalancerNodePorts, or octavia.members: Pod.';
    if (!isIdle) reader.notes.push({ reason: 'NoNodePorts', message });
  }
  return {
    member_mode: mode === 'NodePort' && hasNodePorts ? 'NodePort' : 'Pod',
    ...defined('member_subnet_id', reader.text('member-subnet-id') ?? settings.memberSubnet),
    ...defined('node_selector', reader.text('node-selector')),
  };
}

function hasReadyEndpoint(slices: readonly EndpointSlice[]): boolean {
  return slices.some(({ endpoints }) =>
    endpoints?.some(({ conditions }) => conditions?.ready !== false),
  );
}

function portsOf(frontend: FrontendSpec): KlbPort[] {
  return frontend.ports.map(({ name, port, protocol, target, nodePort }) => ({
    ...(name === '' ? {} : { name }),
    port,
    protocol,
    targetPort: String(target),
    ...defined('nodePort', nodePort),
  }));
}

function clusterIps(frontend: FrontendSpec): Address[] {
  return frontend.backends.clusterAddresses.flatMap((text) => tryParseAddress(text) ?? []);
}

function refused(reason: EventReason, message: string): Extract<Translation, { kind: 'refused' }> {
  return { kind: 'refused', reason, message };
}

function defined<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]?: Value });
}
