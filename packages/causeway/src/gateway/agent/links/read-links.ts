import { z } from 'zod';
import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { runProgram } from '@causeway/base/process/run-program';
import { destinationOf, type LinkView, type RouteRecord } from './link-record.ts';

const linkRecords = z.array(
  z.object({
    ifname: z.string(),
    flags: z.array(z.string()),
    stats64: z.object({ tx: z.object({ carrier_changes: z.number().default(0) }) }),
  }),
);
const addressRecords = z.array(
  z.object({
    ifname: z.string(),
    addr_info: z.array(
      z.object({
        local: z.string(),
        prefixlen: z.number(),
        scope: z.string(),
        dynamic: z.boolean().optional(),
        temporary: z.boolean().optional(),
        nodad: z.boolean().optional(),
        noprefixroute: z.boolean().optional(),
      }),
    ),
  }),
);

/** The network of this machine: its links to clients and nodes. */
export interface NetworkView {
  readonly links: ReadonlyMap<string, LinkView>;
  /** Addresses on each link, including announced ones. */
  readonly present: ReadonlyMap<string, ReadonlySet<Address>>;
  /** Families that have a default route through any link. */
  readonly defaults: ReadonlySet<Family>;
}

export interface NetworkTexts {
  /** `ip -json -s -s link show`, before and after the other commands. */
  readonly links: string;
  readonly linksAfter: string;
  /** `ip -json address show` */
  readonly addresses: string;
  /** `ip -4 route show` and `ip -6 route show` */
  readonly routes: Readonly<Record<Family, string>>;
}

export async function readNetworkTexts(signal: AbortSignal): Promise<NetworkTexts> {
  const showLinks = () => ip(['-json', '-s', '-s', 'link', 'show'], signal);
  return {
    links: await showLinks(),
    addresses: await ip(['-json', 'address', 'show'], signal),
    routes: {
      4: await ip(['-4', 'route', 'show'], signal),
      6: await ip(['-6', 'route', 'show'], signal),
    },
    linksAfter: await showLinks(),
  };
}

/** Runs `ip`. Throws `unavailable` with its output if it fails. */
export async function ip(args: readonly string[], signal: AbortSignal): Promise<string> {
  const { code, stdout, stderr } = await runProgram('ip', args, { signal });
  if (code === 0) return stdout;
  throw new CausewayError('unavailable', `ip ${args.join(' ')} failed`, {
    hint: stderr.trim().slice(0, 200),
  });
}

/**
 * Parses the output of `ip` for these links. `isOwn` selects addresses to keep with any prefix. A link that
 * went down or up between the commands counts as down, because its routes may be half removed.
 */
export function networkIn(
  texts: NetworkTexts,
  names: readonly string[],
  isOwn: (address: Address) => boolean,
): NetworkView {
  const links = parse(linkRecords, texts.links);
  const linksAfter = parse(linkRecords, texts.linksAfter);
  const addresses = parse(addressRecords, texts.addresses);
  const routes = ([4, 6] as const).flatMap((family) => routesIn(texts.routes[family], family));
  const views = new Map<string, LinkView>();
  const present = new Map<string, ReadonlySet<Address>>();
  for (const name of names) {
    const link = links.find(({ ifname }) => ifname === name);
    const after = linksAfter.find(({ ifname }) => ifname === name);
    const found = addresses.find(({ ifname }) => ifname === name)?.addr_info ?? [];
    const through = routes.filter(({ link: each }) => each === name);
    views.set(name, {
      isUp: isUpIn(link) && isUpIn(after) && changesOf(link) === changesOf(after),
      carrierChanges: changesOf(link) ?? 0,
      routes: through.filter(({ isStatic }) => isStatic).map(({ route }) => route),
      destinations: new Set(through.map(({ route }) => destinationOf(route))),
      addresses: found.flatMap((each) => addressWords(each, isOwn)),
    });
    present.set(name, new Set(found.flatMap(({ local }) => tryParseAddress(local) ?? [])));
  }
  const defaults = routes.filter(({ route }) => route.words.split(' ')[0] === 'default');
  return { links: views, present, defaults: new Set(defaults.map(({ route }) => route.family)) };
}

type LinkInfo = z.output<typeof linkRecords>[number];

const isUpIn = (link: LinkInfo | undefined) => link?.flags.includes('LOWER_UP') === true;
const changesOf = (link: LinkInfo | undefined) => link?.stats64.tx.carrier_changes;

type AddressInfo = z.output<typeof addressRecords>[number]['addr_info'][number];

/** An announcer sets host addresses, except the gateway's own. */
function addressWords(info: AddressInfo, isOwn: (address: Address) => boolean): string[] {
  const address = tryParseAddress(info.local);
  if (address === undefined || info.scope !== 'global') return [];
  if (info.dynamic === true || info.temporary === true) return [];
  const isHost = info.prefixlen === (familyOf(address) === 4 ? 32 : 128);
  if (isHost && !isOwn(address)) return [];
  const flags = [
    ...(info.nodad === true ? ['nodad'] : []),
    ...(info.noprefixroute === true ? ['noprefixroute'] : []),
  ];
  return [[`${info.local}/${info.prefixlen}`, ...flags].join(' ')];
}

interface FoundRoute {
  readonly link: string | undefined;
  /** Made by an administrator or at boot, so no other program restores it. */
  readonly isStatic: boolean;
  readonly route: RouteRecord;
}

const staticProtocols: ReadonlySet<string | undefined> = new Set([undefined, 'boot', 'static']);
/** Words for the state of a route. They are not part of its definition. */
const stateWords: ReadonlySet<string> = new Set(['linkdown', 'dead']);
const types = /^(?:blackhole|unreachable|prohibit|throw|local|broadcast|multicast|anycast) /;

function routesIn(text: string, family: Family): FoundRoute[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('\t') && !types.test(line))
    .map((line) => {
      const all = line.trim().split(/\s+/);
      const device = all.indexOf('dev');
      const protocol = all.indexOf('proto');
      const words = all.filter(
        (word, index) =>
          (device < 0 || (index !== device && index !== device + 1)) && !stateWords.has(word),
      );
      const isStatic =
        device > 0 &&
        staticProtocols.has(protocol < 0 ? undefined : all[protocol + 1]) &&
        !['expires', 'encap', 'nhid'].some((word) => all.includes(word));
      return {
        link: device < 0 ? undefined : all[device + 1],
        isStatic,
        route: { family, words: words.join(' ') },
      };
    });
}

function parse<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CausewayError('unavailable', 'the output of ip has no links', { cause });
  }
}
