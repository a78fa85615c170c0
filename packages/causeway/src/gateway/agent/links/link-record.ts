import { z } from 'zod';

const words = z.string().regex(/^[\w.:/%-]+(?: [\w.:/%-]+)*$/);

/** The agent's record of a link in its working state. */
export const linkRecord = z.object({
  /** Number of carrier changes of the link. Another number means that the link went down. */
  carrierChanges: z.number(),
  routes: z.array(z.object({ family: z.union([z.literal(4), z.literal(6)]), words })),
  /** Each as arguments of `ip address add`, such as `2001:db8::11/64 nodad`. */
  addresses: z.array(words),
});
export type LinkRecord = Readonly<z.output<typeof linkRecord>>;

/** A static route, as arguments of `ip route add`. The first word is its destination. */
export type RouteRecord = LinkRecord['routes'][number];

/** The current state of a link. */
export interface LinkView extends LinkRecord {
  readonly isUp: boolean;
  /** Family and destination of every route through the link, including routes of routing daemons. */
  readonly destinations: ReadonlySet<string>;
}

/** Addresses and routes that were on a link before it went down, and are missing now that it is up. */
export type LostFromLink = Pick<LinkRecord, 'routes' | 'addresses'>;

const nothing: LostFromLink = { routes: [], addresses: [] };

export const destinationOf = ({ family, words: text }: RouteRecord): string =>
  `${family} ${text.split(' ')[0]}`;

/** Replaces the count after the link was seen down, because not every driver counts carrier changes. */
const seenDown = -1;

/**
 * The new record of a link, and its lost addresses and routes. A route or address that is missing although
 * the link never went down was removed by an administrator or a program, and is not restored. After the link
 * went down, the kernel removed it. A route with the same destination replaces a lost route.
 */
export function followLink(
  record: LinkRecord | undefined,
  view: LinkView,
): { readonly record: LinkRecord | undefined; readonly lost: LostFromLink } {
  if (!view.isUp) {
    return { record: record && { ...record, carrierChanges: seenDown }, lost: nothing };
  }
  const { carrierChanges, routes, addresses } = view;
  const seen: LinkRecord = { carrierChanges, routes, addresses };
  if (record === undefined || record.carrierChanges === carrierChanges) {
    return { record: seen, lost: nothing };
  }
  const lost = {
    routes: record.routes.filter((route) => !view.destinations.has(destinationOf(route))),
    addresses: record.addresses.filter((address) => !addresses.includes(address)),
  };
  if (lost.routes.length === 0 && lost.addresses.length === 0) return { record: seen, lost };
  return {
    record: {
      carrierChanges: record.carrierChanges,
      routes: [...routes, ...lost.routes],
      addresses: [...addresses, ...lost.addresses],
    },
    lost,
  };
}

/**
 * Arguments of `ip` that restore the lost addresses and routes of a link: addresses first, because routes
 * need them.
 */
export function restoringCommands(link: string, lost: LostFromLink): string[][] {
  const direct = lost.routes.filter(({ words: text }) => !text.includes(' via '));
  const others = lost.routes.filter(({ words: text }) => text.includes(' via '));
  return [
    ...lost.addresses.map((text) => ['address', 'replace', ...text.split(' '), 'dev', link]),
    ...[...direct, ...others].map(({ family, words: text }) => {
      const [destination = '', ...rest] = text.split(' ');
      return [`-${family}`, 'route', 'replace', destination, ...rest, 'dev', link];
    }),
  ];
}
