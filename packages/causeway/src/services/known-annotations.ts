import { nearestWord } from '@causeway/base/text/nearest-word';

const prefix = 'causeway.dev/';

/** The annotations of Causeway on Services, by users and by Causeway, without the prefix. */
export const serviceAnnotations: readonly string[] = [
  ...['address', 'sharing-key', 'keep-floating-ip', 'octavia', 'announcer', 'project'],
  ...['security-groups', 'address-pool', 'address-pool-labels', 'node', 'idle-after', 'hold'],
  ...['load-balancer', 'gateway-ports', 'gateway-layer', 'pool-holding', 'release-address'],
  ...['discovered-as', 'discovered-from', 'project-name', 'load-balancer-name'],
  ...['load-balancer-address', 'listeners', 'l7-pools', 'weights', 'content'],
];

const known: ReadonlySet<string> = new Set(serviceAnnotations);
const longestName = 63;
const mostNamed = 3;

/** A warning about annotations with Causeway's prefix that have no effect on a Service. */
export function unknownAnnotations(
  annotations: Readonly<Record<string, string>>,
): string | undefined {
  const unknown = Object.keys(annotations)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .filter((name) => !known.has(name))
    .sort();
  if (unknown.length === 0) return undefined;
  const more = unknown.length - mostNamed;
  const rest = more > 0 ? `; and ${more} more` : '';
  return `${unknown.slice(0, mostNamed).map(describe).join('; ')}${rest}`;
}

function describe(name: string): string {
  const full = `${prefix}${name.slice(0, longestName)}`;
  if (name === 'weight') return `${full} has no effect on a Service: write it on pods`;
  const meant = name.length > longestName ? undefined : nearestWord(name, serviceAnnotations);
  const hint = meant === undefined ? '' : `: is ${prefix}${meant} meant?`;
  return `The annotation ${full} is not known${hint}`;
}
