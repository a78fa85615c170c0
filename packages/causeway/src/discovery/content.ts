import type { Endpoints, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';

/** What there is for one load balancer or one project, in whatever namespace. */
export interface CurrentObjects {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  readonly endpoints: readonly Endpoints[];
}

/** What a load balancer would lose. */
export interface Loss {
  /** What cycles have to agree on: `load-balancer`, or its ports, each with how it is lost. */
  readonly way: string;
  /** Ports that nobody would reach any more, or most of whose endpoints would go. */
  readonly ports: number;
  /** How many endpoints it would have less, over all its ports. */
  readonly endpoints: number;
  /** The ports that would have fewer endpoints, or go. */
  readonly losing: ReadonlySet<string>;
  /** Whether it would still have a port as it is now, or a new one with endpoints. */
  readonly leavesContent: boolean;
}

/** The addresses behind each port that a user could reach, and miss. */
export type Content = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * What is lost where this takes the place of that. A port that came in the place of another makes up
 * for it: no broken list invents one.
 */
export function lossBetween(before: Content, after: Content): Loss | undefined {
  const lost = [...before].flatMap(([port, addresses]) => {
    const how = portLoss(addresses, after.get(port));
    return how === undefined ? [] : [{ port, how }];
  });
  const gained = [...after].filter(([port, { size }]) => size > 0 && !before.has(port));
  const losing = [...before].filter(([port, { size }]) => (after.get(port)?.size ?? -1) < size);
  const fewer = losing.map(([port, { size }]) => size - (after.get(port)?.size ?? 0));
  const endpoints = Math.max(0, sum(fewer) - sum(gained.map(([, { size }]) => size)));
  const ports = Math.max(0, lost.length - gained.length);
  if (ports === 0 && endpoints === 0) return undefined;
  return {
    // Members come and go; that alone does not make it another loss.
    way:
      ports === 0
        ? 'some endpoints'
        : lost
            .map(({ port, how }) => `${how} of ${port}`)
            .sort()
            .join(', '),
    ports,
    endpoints,
    losing: new Set(losing.map(([port]) => port)),
    leavesContent: gained.length > 0 || lost.length < before.size,
  };
}

/** All of it goes. */
export function wholeLoss(before: Content): Loss {
  return {
    way: 'load-balancer',
    ports: before.size,
    endpoints: sum([...before.values()].map(({ size }) => size)),
    losing: new Set(before.keys()),
    leavesContent: false,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function portLoss(before: ReadonlySet<string>, after: ReadonlySet<string> | undefined) {
  if (after === undefined) return 'all';
  if (before.size > 0 && after.size === 0) return 'endpoints';
  return after.size * 2 < before.size ? 'most endpoints' : undefined;
}

interface NamedPort {
  readonly name?: string;
  readonly protocol?: string;
}

/** Port names are those of these Services, so that renaming a port loses nothing. */
export function contentOf(
  { services, slices, endpoints }: CurrentObjects,
  alsoNamedBy: readonly Service[] = [],
): Content {
  const content = new Map<string, Set<string>>();
  const names = new Map<string, string>();
  for (const { spec } of [...alsoNamedBy, ...services]) {
    for (const { name = '', protocol = 'TCP', port } of spec?.ports ?? []) {
      names.set(`${protocol} ${name}`, `${protocol}/${port}`);
    }
  }
  const isServed = services.some(({ spec }) => (spec?.ports ?? []).length > 0);
  const behind = ({ name = '', protocol = 'TCP' }: NamedPort) => {
    const key = names.get(`${protocol} ${name}`) ?? `${protocol} ${name}`;
    // Nobody reaches what is behind a name that no port of the Service has.
    if (isServed && !names.has(`${protocol} ${name}`)) return new Set<string>();
    const addresses = content.get(key) ?? new Set<string>();
    content.set(key, addresses);
    return addresses;
  };
  for (const { spec } of services) for (const port of spec?.ports ?? []) behind(port);
  for (const { ports, endpoints: own } of slices) {
    if ((own ?? []).length === 0) continue;
    for (const port of ports ?? []) {
      const addresses = behind(port);
      for (const { addresses: its } of own ?? []) {
        for (const address of its) addresses.add(`${address} ${port.port}`);
      }
    }
  }
  for (const { subsets } of endpoints) {
    for (const { ports, addresses = [], notReadyAddresses = [] } of subsets ?? []) {
      const ips = [...addresses, ...notReadyAddresses].map(({ ip }) => ip);
      if (ips.length === 0) continue;
      for (const port of ports ?? []) {
        for (const ip of ips) behind(port).add(`${ip} ${port.port}`);
      }
    }
  }
  return content;
}
