import { z } from 'zod';
import { cloudSetting, listenPort, logSettings } from '@causeway/base/settings/common-settings';

const ledgerSettings = {
  ledger: z
    .string()
    .default('sqlite:/var/lib/causeway/ipam.db')
    .describe('where addresses are stored: sqlite:FILE, or etcd:URL,URL… for several servers'),
  etcd: z
    .strictObject({
      root: z
        .string()
        .regex(/^\/[\w/-]*\/$/, 'must begin and end with a slash')
        .default('/causeway/ipam/')
        .describe('prefix of every key, so that other programs can use the same etcd'),
      caFile: z.string().optional().describe('PEM file of the authority of etcd’s certificates'),
      certificateFile: z
        .string()
        .optional()
        .describe('PEM file of the client certificate for etcd'),
      keyFile: z.string().optional().describe('PEM file of its key'),
      user: z.string().optional().describe('user name for etcd'),
      passwordFile: z.string().optional().describe('file with the password'),
    })
    .prefault({}),
};

/** For commands that use a ledger without its server. */
export const ipamLedgerSettings = z.strictObject(ledgerSettings);
export type IpamLedgerSettings = z.infer<typeof ipamLedgerSettings>;

const platformSettings = z.strictObject({
  name: z.string().min(1).max(63).describe('what pools call it'),
  driver: z.enum(['openstack']).describe('what kind of infrastructure it is'),
  cloud: cloudSetting,
  subnets: z
    .array(z.string().min(1))
    .min(1)
    .describe('ids of the subnets that the addresses are of'),
  floatingNetwork: z
    .string()
    .min(1)
    .optional()
    .describe('id of the network of floating IPs; none are used without it'),
  floatingSubnet: z.string().min(1).optional().describe('id of the subnet of that network'),
});
export type PlatformSettings = z.infer<typeof platformSettings>;

/** For `causeway ipam serve`. */
export const ipamServerSettings = z.strictObject({
  ...ledgerSettings,
  listen: z
    .strictObject({
      host: z.string().default('127.0.0.1').describe('address to serve the API on'),
      port: listenPort.default(8444).describe('port to serve the API on'),
    })
    .prefault({}),
  tls: z
    .strictObject({
      certificateFile: z.string().optional().describe('PEM file of the server’s certificate'),
      keyFile: z.string().optional().describe('PEM file of its key'),
      clientAuthorityFile: z
        .string()
        .optional()
        .describe('PEM file of the authority of client certificates that may be credentials'),
    })
    .prefault({}),
  insecure: z
    .boolean()
    .default(false)
    .describe('serve without TLS on an address other than loopback'),
  metrics: z
    .strictObject({
      host: z.string().default('127.0.0.1').describe('address for health and metrics'),
      port: listenPort.default(9644).describe('port for health and metrics'),
    })
    .prefault({}),
  rateLimit: z
    .strictObject({
      perSecond: z.number().positive().default(50).describe('requests a second for a credential'),
      burst: z.number().positive().default(200).describe('requests that it may make at once'),
    })
    .prefault({}),
  platforms: z
    .array(platformSettings)
    .default([])
    .describe('infrastructure that must prepare the addresses of pools that name it'),
  auditRetentionDays: z
    .number()
    .positive()
    .optional()
    .describe(
      'how long the audit log is kept; 365 in SQLite and 2 in etcd, which has room for few',
    ),
  log: logSettings,
});
export type IpamServerSettings = z.infer<typeof ipamServerSettings>;

const dayMs = 86_400_000;

/** A file has room for a year; at 10,000 clusters the audit log would fill etcd's 2 GB within days. */
export function auditRetentionMs(settings: IpamServerSettings): number {
  const byLedger = settings.ledger.startsWith('etcd:') ? 2 : 365;
  return (settings.auditRetentionDays ?? byLedger) * dayMs;
}

/** For commands that call a server. */
export const ipamClientSettings = z.strictObject({
  server: z
    .array(z.string())
    .default(['http://127.0.0.1:8444'])
    .describe('URLs of the servers; the next is tried when one fails'),
  tokenFile: z.string().optional().describe('file with the token'),
  caFile: z.string().optional().describe('PEM file of the authority of the server’s certificate'),
  certificateFile: z.string().optional().describe('PEM file of the client certificate'),
  keyFile: z.string().optional().describe('PEM file of its key'),
});
