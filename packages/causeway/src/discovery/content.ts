import type { Endpoints, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';

/** The objects of one load balancer or one project, in any namespace. */
export interface CurrentObjects {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  readonly endpoints: readonly Endpoints[];
}

/** The loss of a load balancer. */
export interface Loss {
  /** The value that cycles must agree on: `load-balancer`, or its ports, each with the kind of its loss. */
  readonly way: string;
  /** Ports that clients could no longer reach, or that would lose most of their endpoints. */
  readonly ports: number;
  /** Number of lost endpoints, over all ports. */
  readonly endpoints: number;
  /** The ports that would lose endpoints or be removed. */
  readonly losing: ReadonlySet<string>;
  /** Whether an unchanged port, or a new port with endpoints, would remain. */
  readonly leavesContent: boolean;
}

/** The addresses behind each port that clients can reach. */
export type Content = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The loss if `after` replaces `before`. A port that replaces another compensates for it: no broken list
 * invents one.
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
    // Members change often; that alone does not make it a different loss.
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

/** The loss of everything. */
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

/** Port names are taken from these Services, so that renaming a port loses nothing. */
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
    // Clients can't reach endpoints under a name that no port of the Service has.
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
