import { z } from 'zod';

const words = z.string().regex(/^[\w.:/%-]+(?: [\w.:/%-]+)*$/);

/** What the agent keeps of a link: the state that it is in when it works. */
export const linkRecord = z.object({
  /** How often the link has gone down or up. Another number means that it went down since. */
  carrierChanges: z.number(),
  routes: z.array(z.object({ family: z.union([z.literal(4), z.literal(6)]), words })),
  /** Each as arguments of `ip address add`, such as `2001:db8::11/64 nodad`. */
  addresses: z.array(words),
});
export type LinkRecord = Readonly<z.output<typeof linkRecord>>;

/** A static route, as arguments of `ip route add`. The first word is its destination. */
export type RouteRecord = LinkRecord['routes'][number];

/** How a link is now. */
export interface LinkView extends LinkRecord {
  readonly isUp: boolean;
  /** Every route through the link, those of routing daemons included: family and destination. */
  readonly destinations: ReadonlySet<string>;
}

/** What was on a link before it went down, and is not there since it is up again. */
export type LostFromLink = Pick<LinkRecord, 'routes' | 'addresses'>;

const nothing: LostFromLink = { routes: [], addresses: [] };

export const destinationOf = ({ family, words: text }: RouteRecord): string =>
  `${family} ${text.split(' ')[0]}`;

/** In place of the count, once the link was seen down: not every driver counts that. */
const seenDown = -1;

/**
 * What to keep of a link, and what it lost. A route or address that is gone although the link never went
 * down was removed by an administrator or a program, and is not missed. One that is gone since the link
 * went down was removed by the kernel. A route with the same destination takes its place.
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

/** Arguments of `ip` that bring back what a link lost: addresses first, because routes need them. */
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
