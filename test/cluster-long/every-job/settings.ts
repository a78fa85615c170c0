import {
  agentSecret,
  servedAddresses,
  type Gateways,
} from '../../services/real-cluster/gateways.ts';
import { namespace, proxyValues } from '../../services/real-cluster/installation.ts';
import { ledgerSettings, ledgerUrl } from '../ledger.ts';

export const site = 'edge';
export const poolAddresses = '198.51.100.0/28';

/** The settings of every job, the same for Helm and for kustomize. */
export const everySetting = ({ gateways }: Gateways, subnet: string) => ({
  controller: {
    clusterId: 'real',
    defaultProvider: 'gateway',
    cloud: 'openstack',
    driftSeconds: 10,
    gateway: {
      portManager: 'static',
      addresses: [servedAddresses],
      secretFile: '/etc/causeway/secrets/agents.secret',
      agents: gateways.map(({ name, url }) => ({ name, url })),
    },
    octavia: { subnets: [subnet], members: 'Pod' },
    pool: {
      servers: [ledgerUrl],
      site,
      cluster: 'real',
      announcer: 'plain',
      tokenFile: '/etc/causeway/secrets/ipam.token',
      authorityFile: '/etc/causeway/secrets/ipam-ca.crt',
    },
    dashboard: { tokenFile: '/etc/causeway/secrets/dashboard.token' },
  },
  discovery: {
    backendName: 'east',
    secret: `${namespace}/causeway-discovery-cloud`,
    intervalSeconds: 5,
    projects: ['demo'],
  },
  ipam: ledgerSettings,
  proxy: proxyValues.config,
});

export type EverySetting = ReturnType<typeof everySetting>;

export const everyValue = (settings: EverySetting) => ({
  gateway: { enabled: true },
  octavia: { enabled: true },
  pool: { enabled: true },
  idling: { enabled: true },
  dashboard: { enabled: true },
  controller: { config: settings.controller },
  discovery: { enabled: true, config: settings.discovery },
  ipam: { enabled: true, config: settings.ipam },
  proxy: { ...proxyValues, config: settings.proxy },
});

export const controllerSecret = (parts: {
  readonly cloudsYaml: string;
  readonly ipamToken: string;
  readonly authority: string;
}) => ({
  'agents.secret': agentSecret,
  'dashboard.token': 'of-the-test-cluster',
  'clouds.yaml': parts.cloudsYaml,
  'ipam.token': parts.ipamToken,
  'ipam-ca.crt': parts.authority,
});
