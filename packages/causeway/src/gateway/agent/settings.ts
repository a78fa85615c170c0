import { z } from 'zod';
import { networkSetting } from '@causeway/base/settings/parsed';
import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort } from '@causeway/base/address/port';
import { listenPort, logSettings } from '@causeway/base/settings/common-settings';
import { settingsDirectory } from '@causeway/netlink/kernel-settings';
import { tableSettings } from '@causeway/nftables/model/table-settings';
import type { VrrpFilter } from '@causeway/nftables/compile/virtual-service';
import {
  anchorFor,
  keepalivedFiles,
  type KeepalivedSettings,
  type VrrpFamily,
  type VrrpNetwork,
} from './announce/keepalived/settings.ts';

const address = (family?: Family) =>
  z
    .string()
    .refine(
      (text) => {
        const parsed = tryParseAddress(text);
        return parsed !== undefined && (family === undefined || familyOf(parsed) === family);
      },
      `is not an ${family === undefined ? 'IP' : `IPv${family}`} address`,
    )
    .transform((text) => tryParseAddress(text) as Address);
const port = z.number().int().min(1).max(65535).transform(parsePort);
const file = z.string().regex(/^\/[\w./@-]+$/, 'is not an absolute path of plain characters');
const linkName = z.string().regex(/^[\w.-]{1,15}$/, 'is not the name of a network interface');
const routerId = z.number().int().min(1).max(255);

const network = (what: string) =>
  z.strictObject({
    interface: linkName.describe(`interface in the ${what} network`),
    virtualRouterId: routerId.describe('VRRP router id, the same on all gateways of the set'),
    address4: address(4).optional().describe("this gateway's own IPv4 address there"),
    peers4: z.array(address(4)).default([]).describe("the other gateways' own IPv4 addresses"),
    anchor4: address(4).optional().describe('IPv4 address that adverts name; never a served one'),
    address6: address(6).optional().describe("this gateway's own IPv6 address there"),
    peers6: z.array(address(6)).default([]).describe("the other gateways' own IPv6 addresses"),
    anchor6: address(6).optional().describe('IPv6 address that adverts name; never a served one'),
    routes: z
      .array(address())
      .default([])
      .describe("addresses that move with the gateway, such as the nodes' default route"),
  });

const settingsObject = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, 'is not a name')
    .describe("this gateway's name, and the audience of its tokens"),
  listen: z
    .strictObject({
      address: address().prefault('::').describe('address that the API listens on'),
      port: listenPort.default(15213).describe('port of the API'),
    })
    .prefault({}),
  stateDirectory: file
    .default('/var/lib/causeway-agent')
    .describe('directory of the accepted configuration'),
  runtimeDirectory: file
    .default('/run/causeway-agent')
    .describe('directory of files that are valid until the next boot'),
  settingsDirectory: file
    .default(settingsDirectory)
    .describe("directory of the kernel's settings, for containers with a read-only /proc/sys"),
  secretsFile: file.optional().describe('shared secrets for /v2, base64, one per line'),
  seedFile: file
    .optional()
    .describe('secret that spreads clients over backends; the same on all gateways of the set'),
  v1: z
    .strictObject({
      secretsFile: file
        .optional()
        .describe("shared secret of ch-k8s-lbaas's controller; enables /v1"),
      masquerade: z
        .enum(['needed', 'always'])
        .default('always')
        .describe('connections of /v1 frontends that get their source address rewritten'),
    })
    .prefault({}),
  tls: z
    .strictObject({
      certificateFile: file.optional().describe('certificate of the API; enables TLS'),
      keyFile: file.optional().describe('private key of that certificate'),
      clientAuthorityFile: file
        .optional()
        .describe('authority that must have signed client certificates'),
    })
    .refine(
      // With only one of the files, TLS would be off without notice.
      (tls) =>
        (tls.certificateFile === undefined) === (tls.keyFile === undefined) &&
        (tls.clientAuthorityFile === undefined || tls.certificateFile !== undefined),
      'certificateFile and keyFile must be set together, and clientAuthorityFile requires them',
    )
    .prefault({}),
  metrics: z
    .strictObject({
      address: address().prefault('::').describe('address that health and metrics listen on'),
      port: listenPort.default(15214).describe('port of health and metrics'),
    })
    .prefault({}),
  log: logSettings,
  nftables: z
    .strictObject({
      ...tableSettings('causeway'),
      localSources: z
        .array(networkSetting)
        .default([])
        .describe('networks of nodes and pods; connections from them need their source rewritten'),
    })
    .prefault({}),
  addresses: z
    .strictObject({
      mover: z
        .enum(['keepalived', 'foreign', 'simulated'])
        .default('keepalived')
        .describe(
          'system that moves the addresses; foreign: another system; simulated: none, for tests, where the agents of one machine elect a master',
        ),
      simulatedWith: z
        .string()
        .min(1)
        .default('causeway')
        .describe(
          'name of the group of agents that elect a master, with addresses.mover simulated',
        ),
      groups: z
        .enum(['one', 'several'])
        .default('one')
        .describe(
          'number of gateway sets that are active for the same nodes; several need every source rewritten',
        ),
      start: z
        .enum(['spawn', 'external'])
        .default('external')
        .describe('starter of keepalived; spawn: the agent; external: its own unit'),
      priority: z
        .number()
        .int()
        .min(1)
        .max(254)
        .default(200)
        .describe('VRRP priority; a backup with a higher priority takes over sooner'),
      advertMs: z.number().int().min(10).max(40_000).default(100).describe('VRRP advert interval'),
      announceAgainSeconds: z
        .number()
        .int()
        .min(1)
        .max(60)
        .default(1)
        .describe(
          'seconds until addresses are announced again after a failover; later, ten times this interval',
        ),
    })
    .prefault({}),
  external: network('external').optional(),
  internal: network('internal').optional(),
  links: z
    .strictObject({
      restore: z
        .boolean()
        .default(true)
        .describe('restore static routes and own addresses that a link lost when it went down'),
      defaultRoute: z
        .enum(['recorded', 'ignored'])
        .default('recorded')
        .describe(
          'recorded: a gateway without its default route yields to a gateway that has one; ignored: clients need no default route',
        ),
    })
    .prefault({}),
  removal: z
    .strictObject({
      share: z
        .number()
        .min(0)
        .max(1)
        .default(0.5)
        .describe('share of the frontends that one update may remove'),
      count: z
        .number()
        .int()
        .min(0)
        .default(20)
        .describe('number of frontends that one update may always remove'),
    })
    .prefault({}),
  probe: z
    .strictObject({
      intervalMs: z
        .number()
        .int()
        .min(0)
        .max(60_000)
        .default(500)
        .describe('interval of probes; 0 disables them'),
      fall: z
        .number()
        .int()
        .min(1)
        .default(2)
        .describe('unanswered probes in a row that make a backend unhealthy'),
      rise: z
        .number()
        .int()
        .min(1)
        .default(2)
        .describe('answered probes in a row that make it healthy again'),
      nodePort: port
        .prefault(10256)
        .describe('port of nodes that is probed; a refused connection counts as an answer'),
    })
    .prefault({}),
  limits: z
    .strictObject({
      bodyBytes: z.number().int().min(1024).default(1_073_741_824).describe('largest update'),
      lineBytes: z.number().int().min(1024).default(16_777_216).describe('largest record'),
    })
    .prefault({}),
});

/** The settings of `causeway agent run`. */
export const agentSettings = settingsObject.superRefine(({ addresses, internal, v1 }, context) => {
  if (addresses.groups === 'one') return;
  // Replies would go to the group that has the route, which doesn't know the connections of other groups.
  if (internal !== undefined && internal.routes.length > 0) {
    context.addIssue({
      code: 'custom',
      path: ['internal', 'routes'],
      message: 'internal.routes is not supported with several active groups (addresses.groups)',
    });
  }
  if (v1.masquerade !== 'always') {
    context.addIssue({
      code: 'custom',
      path: ['v1', 'masquerade'],
      message: 'must be always with several active groups (addresses.groups)',
    });
  }
});

export type AgentSettings = z.output<typeof agentSettings>;
type NetworkSettings = NonNullable<AgentSettings['external']>;

/** keepalived's settings. Throws `invalid` if they are incomplete. */
export function keepalivedSettings(settings: AgentSettings): KeepalivedSettings {
  const networks: VrrpNetwork[] = [];
  if (settings.external !== undefined) networks.push(vrrpNetwork('external', settings.external));
  if (settings.internal !== undefined) networks.push(vrrpNetwork('internal', settings.internal));
  if (settings.external === undefined) {
    throw new CausewayError('invalid', 'keepalived needs the settings of the external network', {
      hint: 'Set external, or set addresses.mover to foreign if another system moves the addresses.',
    });
  }
  return {
    name: settings.name,
    networks,
    priority: settings.addresses.priority,
    advertIntervalMs: settings.addresses.advertMs,
    announceAgainSeconds: settings.addresses.announceAgainSeconds,
    files: keepalivedFiles(settings.runtimeDirectory),
  };
}

function vrrpNetwork(name: VrrpNetwork['name'], settings: NetworkSettings): VrrpNetwork {
  const families = [
    vrrpFamily(4, settings, settings.address4, settings.peers4, settings.anchor4),
    vrrpFamily(6, settings, settings.address6, settings.peers6, settings.anchor6),
  ].filter((family) => family !== undefined);
  if (families.length === 0) {
    throw new CausewayError('invalid', `the ${name} network has neither address4 nor address6`);
  }
  return { name, interface: settings.interface, families };
}

function vrrpFamily(
  family: Family,
  settings: NetworkSettings,
  source: Address | undefined,
  peers: readonly Address[],
  anchor: Address | undefined,
): VrrpFamily | undefined {
  const { virtualRouterId } = settings;
  if (source === undefined) return undefined;
  return {
    family,
    virtualRouterId,
    source,
    peers,
    anchor: anchor ?? (tryParseAddress(anchorFor(family, virtualRouterId)) as Address),
    routes: settings.routes.filter((route) => familyOf(route) === family),
  };
}

/** All addresses that may send VRRP packets to this gateway. */
export function vrrpPeers(settings: KeepalivedSettings): Address[] {
  return settings.networks.flatMap((each) => each.families.flatMap((family) => family.peers));
}

/** The VRRP packets that keepalived needs to receive with these settings. */
export function vrrpFilter({ networks }: KeepalivedSettings): VrrpFilter {
  const links = new Map<string, Address[]>();
  const routerIds = new Set<number>();
  for (const network of networks) {
    const peers = links.get(network.interface) ?? [];
    for (const family of network.families) {
      peers.push(...family.peers);
      routerIds.add(family.virtualRouterId);
    }
    links.set(network.interface, peers);
  }
  return {
    links: [...links].map(([name, peers]) => ({ interface: name, peers })),
    routerIds: [...routerIds],
  };
}

/** The socket of the API for root on the gateway. */
export function socketFile(settings: Pick<AgentSettings, 'runtimeDirectory'>): string {
  return `${settings.runtimeDirectory}/api.sock`;
}
