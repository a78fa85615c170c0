import { z } from 'zod';
import { networkSetting } from '@causeway/base/settings/parsed';
import { parsePort } from '@causeway/base/address/port';
import { listenPort, logSettings } from '@causeway/base/settings/common-settings';
import { settingsDirectory } from '@causeway/netlink/kernel-settings';
import { tableSettings } from '@causeway/nftables/model/table-settings';
import { addressSetting } from './address-setting.ts';
import { announcerSettings, networkSettings } from './announce/settings.ts';

const port = z.number().int().min(1).max(65535).transform(parsePort);
const file = z.string().regex(/^\/[\w./@-]+$/, 'is not an absolute path of plain characters');

const settingsObject = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, 'is not a name')
    .describe("this gateway's name, and the audience of its tokens"),
  listen: z
    .strictObject({
      address: addressSetting().prefault('::').describe('address that the API listens on'),
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
      address: addressSetting()
        .prefault('::')
        .describe('address that health and metrics listen on'),
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
  addresses: announcerSettings,
  external: networkSettings('external').optional(),
  internal: networkSettings('internal').optional(),
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

/** The socket of the API for root on the gateway. */
export function socketFile(settings: Pick<AgentSettings, 'runtimeDirectory'>): string {
  return `${settings.runtimeDirectory}/api.sock`;
}
