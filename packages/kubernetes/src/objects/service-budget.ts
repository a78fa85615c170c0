import { quoted, textLimits } from '@causeway/base/text/text-limit';
import type { Service } from './core-objects.ts';
import type { EndpointSlice } from './network-objects.ts';

/**
 * Size limits of one Service. The API server accepts more: a Service of 87 kB can request two million pairs
 * of a port and a source range. Every provider and the node proxy reject a larger Service entirely, with an
 * Event. docs/limits.md has these figures for users.
 */
export const serviceBudget = {
  ports: 1_000,
  sourceRanges: 2_000,
  /** Octavia gets every source range once per port. */
  portsTimesRanges: 100_000,
  externalIps: 100,
  /** A node proxy serves every port at each address of the Service. */
  portsTimesAddresses: 10_000,
  /** It forwards each of those to every endpoint of the port and family. Counted per address family. */
  endpointsTimesAddresses: 20_000,
} as const;

/** Why a Service is rejected: one CamelCase word for the Event, and a message with the remedy. */
export interface BudgetExcess {
  readonly reason: 'OverBudget';
  readonly message: string;
}

/** Annotations that Causeway reads. Others may have any length that Kubernetes allows. */
const readPrefixes = [
  'causeway.dev/',
  'loadbalancer.openstack.org/',
  'service.beta.kubernetes.io/openstack-internal-load-balancer',
  'openstack.org/kuryr-timeout-client-data',
  'openstack.org/kuryr-timeout-member-data',
  'idling.alpha.openshift.io/',
  'cah-loadbalancer.k8s.cloudandheat.com/',
  'metallb.io/',
  'metallb.universe.tf/',
  'kube-vip.io/',
  'lbipam.cilium.io/',
  'purelb.io/',
];

/** Annotations with a JSON value. */
const records = new Set([
  'causeway.dev/load-balancer',
  'causeway.dev/gateway-ports',
  'causeway.dev/pool-holding',
  'idling.alpha.openshift.io/unidle-targets',
]);

/** The parts of a Service that count. */
export interface Budgeted {
  readonly annotations: Readonly<Record<string, string>>;
  readonly requestedAddress: string | undefined;
  readonly sourceRanges: readonly string[];
  readonly ports: readonly { readonly nodePort?: number | undefined }[];
  readonly externalIps: readonly string[];
  readonly clusterAddresses: readonly string[];
  /** Addresses in the status. */
  readonly published: readonly string[];
}

export function budgetedService({ metadata, spec, status }: Service): Budgeted {
  return {
    annotations: metadata?.annotations ?? {},
    requestedAddress: spec?.loadBalancerIP,
    sourceRanges: spec?.loadBalancerSourceRanges ?? [],
    ports: spec?.ports ?? [],
    externalIps: spec?.externalIPs ?? [],
    clusterAddresses: spec?.clusterIPs ?? [spec?.clusterIP ?? ''],
    published: (status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip),
  };
}

/**
 * The reason why the Service and its endpoints exceed the budget; undefined if they fit. Only counts and
 * parses nothing, so the cost is low for a Service of any size.
 */
export function budgetExcess(
  service: Budgeted,
  slices: readonly EndpointSlice[] = [],
): BudgetExcess | undefined {
  const problem = textProblem(service) ?? sizeProblem(service, slices);
  return problem === undefined ? undefined : { reason: 'OverBudget', message: problem };
}

function textProblem({ annotations, requestedAddress = '', sourceRanges }: Budgeted) {
  for (const [name, value] of Object.entries(annotations)) {
    if (!readPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    const most = records.has(name) ? textLimits.record : textLimits.value;
    if (value.length <= most) continue;
    return `The annotation ${name} has ${value.length} characters; Causeway reads up to ${most}. Shorten or remove it.`;
  }
  if (requestedAddress.length > textLimits.value) {
    return `spec.loadBalancerIP has ${requestedAddress.length} characters; Causeway reads up to ${textLimits.value}. Shorten or remove it.`;
  }
  const range = sourceRanges.find((text) => text.length > textLimits.range);
  if (range === undefined) return undefined;
  return `The source range ${quoted(range)} is longer than ${textLimits.range} characters. Write it without spaces.`;
}

function sizeProblem(service: Budgeted, slices: readonly EndpointSlice[]) {
  const ports = service.ports.length;
  const ranges = service.sourceRanges.length;
  const externalIps = service.externalIps.length;
  const hasNodePort = service.ports.some(({ nodePort = 0 }) => nodePort > 0);
  const written = [...service.clusterAddresses, ...service.externalIps, ...service.published];
  const addresses = written.length + (hasNodePort ? 1 : 0);
  const paths = (['IPv4', 'IPv6'] as const).map((family) => {
    const own = written.filter((text) => text.includes(':') === (family === 'IPv6')).length;
    return endpointsOf(slices, family) * (own + (hasNodePort ? 1 : 0));
  });
  const most = serviceBudget;
  const split = 'Split it into several Services';
  return (
    over('ports', ports, most.ports, split) ??
    over('source ranges', ranges, most.sourceRanges, 'Join neighbouring ranges into larger ones') ??
    over('external IPs', externalIps, most.externalIps, split) ??
    over(
      `pairs of a port and a source range (${ports} × ${ranges})`,
      ...([ports * ranges, most.portsTimesRanges] as const),
      'Split it into several Services, or join neighbouring ranges into larger ones',
    ) ??
    over(
      `pairs of a port and an address (${ports} × ${addresses})`,
      ...([ports * addresses, most.portsTimesAddresses] as const),
      'Split it into several Services, or remove external IPs',
    ) ??
    tooManyEndpoints(Math.max(...paths), most.endpointsTimesAddresses)
  );
}

/** Without the number, which changes with every pod: each new message would be a new Event. */
function tooManyEndpoints(count: number, most: number): string | undefined {
  if (count <= most) return undefined;
  return `The Service has more than ${most} endpoints, counted for each port and each of its addresses. The Service is not served until it is smaller. Split it into several Services, or run fewer pods behind it.`;
}

/** An endpoint counts once per port of its slice. */
function endpointsOf(slices: readonly EndpointSlice[], family: 'IPv4' | 'IPv6'): number {
  let count = 0;
  for (const { addressType, ports, endpoints } of slices) {
    if (addressType !== family) continue;
    count += (ports?.length ?? 0) * (endpoints?.length ?? 0);
  }
  return count;
}

function over(what: string, count: number, most: number, remedy: string): string | undefined {
  if (count <= most) return undefined;
  return `The Service has ${count} ${what}; the limit is ${most}. The Service is not served until it is smaller. ${remedy}.`;
}
