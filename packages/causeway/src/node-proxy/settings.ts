import { z } from 'zod';
import { networkSetting } from '@causeway/base/settings/parsed';
import {
  connectionSettings,
  listenPort,
  logSettings,
} from '@causeway/base/settings/common-settings';
import { settingsDirectory } from '@causeway/netlink/kernel-settings';
import { tableSettings } from '@causeway/nftables/model/table-settings';
import { egressFirewallSettings } from './egress-firewall/settings.ts';
import { holderSettings } from './holder/settings.ts';

const seconds = z.number().min(0);
const count = z.number().int().min(0);
const linkName = z.string().regex(/^[\w.@-]{1,15}$/, 'is not the name of a network interface');

/** The settings of `causeway proxy`. A KubeProxyConfiguration is converted to them. */
export const proxySettings = z.strictObject({
  nodeName: z
    .string()
    .min(1)
    .optional()
    .describe("name of this machine's Node; the host name if not set"),
  ...connectionSettings,
  services: z
    .enum(['labelled', 'all'])
    .default('labelled')
    .describe(
      'labelled: those with service.kubernetes.io/service-proxy-name, beside kube-proxy; all: the others too, in its place',
    ),
  serviceProxyName: z
    .string()
    .min(1)
    .default('causeway')
    .describe('value of that label for Services of this proxy'),
  insiders: z
    .strictObject({
      by: z
        .enum(['cluster-networks', 'node-networks', 'bridge', 'interface-prefix', 'nothing'])
        .default('cluster-networks')
        .describe('how pods are identified; connections of other clients are masqueraded'),
      networks: z
        .array(networkSetting)
        .default([])
        .describe('networks of all pods, for cluster-networks; unknown if empty'),
      interface: linkName
        .optional()
        .describe('for bridge: the bridge; for interface-prefix: the prefix of the names'),
    })
    .prefault({}),
  masqueradeAll: z
    .boolean()
    .default(false)
    .describe('rewrite the source of every connection to a cluster address'),
  nodePortAddresses: z
    .array(z.union([z.literal('primary'), networkSetting]))
    .default(['primary'])
    .describe("where node ports are served: primary for the Node's own addresses, or networks"),
  sync: z
    .strictObject({
      minSeconds: seconds.default(0).describe('minimum time between two writes of the rules'),
      maxSeconds: seconds.default(30).describe('maximum time between two comparisons of the rules'),
    })
    .prefault({}),
  health: z
    .strictObject({
      address: z
        .string()
        .default('::')
        .describe(
          'where /healthz and /livez listen; :: means all addresses, or all IPv4 addresses without IPv6',
        ),
      port: listenPort.default(10256).describe('port of /healthz and /livez'),
    })
    .prefault({}),
  metrics: z
    .strictObject({
      address: z.string().default('127.0.0.1').describe('where /metrics and /proxyMode listen'),
      port: listenPort.default(10249).describe('port of /metrics and /proxyMode'),
    })
    .prefault({}),
  needPorts: z
    .boolean()
    .default(false)
    .describe('end if a port of health or metrics is taken; else continue without it and retry'),
  conntrack: z
    .strictObject({
      maxPerCore: count
        .default(32_768)
        .describe('connections tracked for each core; 0 keeps the current value'),
      min: count.default(131_072).describe('minimum of that'),
      tcpEstablishedSeconds: seconds
        .default(86_400)
        .describe(
          'idle time after which an established connection is deleted; 0 keeps the current value',
        ),
      tcpCloseWaitSeconds: seconds
        .default(3_600)
        .describe('the same for half-closed ones; 0 keeps the current value'),
      tcpBeLiberal: z
        .boolean()
        .default(false)
        .describe('let packets outside the window pass instead of dropping them'),
      udpSeconds: seconds
        .default(0)
        .describe('the same for UDP without an answer; 0 keeps the current value'),
      udpStreamSeconds: seconds
        .default(0)
        .describe('the same for UDP streams; 0 keeps the current value'),
    })
    .prefault({}),
  oomScoreAdjust: z
    .number()
    .int()
    .min(-1000)
    .max(1000)
    .optional()
    .describe('how likely the kernel ends this process when memory runs out'),
  settingsDirectory: z
    .string()
    .min(1)
    .default(settingsDirectory)
    .describe("directory of the kernel's settings, for containers with a read-only /proc/sys"),
  egressFirewall: egressFirewallSettings.prefault({}),
  idling: holderSettings.prefault({}),
  nftables: z
    .strictObject({
      ...tableSettings('causeway-proxy'),
    })
    .prefault({}),
  log: logSettings,
});

export type ProxySettings = z.output<typeof proxySettings> & { readonly nodeName: string };
