import type { Clock } from '@causeway/base/time/clock';
import { newUuid } from '../ids.ts';
import { Table, byId } from '../table.ts';
import type { AddressSpace } from './address-space.ts';
import type {
  FloatingIpRow,
  NetworkRow,
  NeutronRow,
  PortRow,
  RouterRow,
  SecurityGroupRow,
  SecurityGroupRuleRow,
  SubnetRow,
} from './rows.ts';

const project = (row: NeutronRow) => [row.project_id];
const tags = (row: NeutronRow) => row.tags;
const name = (row: NeutronRow) => [row.name];
const present = (value: string | null) => (value === null || value === '' ? [] : [value]);

export type QuotaName =
  | 'network'
  | 'subnet'
  | 'port'
  | 'router'
  | 'floatingip'
  | 'security_group'
  | 'security_group_rule';

export const quotaNames: readonly QuotaName[] = [
  'network',
  'subnet',
  'port',
  'router',
  'floatingip',
  'security_group',
  'security_group_rule',
];

export type Quotas = Record<QuotaName, number>;

/** The state of Neutron. */
export class NeutronState {
  readonly clock: Clock;
  readonly networks = new Table<NetworkRow>({ project_id: project, name, tags }, byId);
  readonly subnets = new Table<SubnetRow>(
    { project_id: project, name, tags, network_id: (row) => [row.network_id] },
    byId,
  );
  readonly ports = new Table<PortRow>(
    {
      project_id: project,
      name,
      tags,
      network_id: (row) => [row.network_id],
      device_id: (row) => present(row.device_id),
      device_owner: (row) => present(row.device_owner),
      fixed_ip: (row) => row.fixed_ips.map((fixed) => fixed.ip_address),
      subnet_id: (row) => row.fixed_ips.map((fixed) => fixed.subnet_id),
      security_group: (row) => row.security_groups,
    },
    byId,
  );
  readonly floatingIps = new Table<FloatingIpRow>(
    {
      project_id: project,
      tags,
      floating_ip_address: (row) => [row.floating_ip_address],
      floating_network_id: (row) => [row.floating_network_id],
      port_id: (row) => present(row.port_id),
      description: (row) => [row.description],
    },
    byId,
  );
  readonly routers = new Table<RouterRow>({ project_id: project, name, tags }, byId);
  readonly securityGroups = new Table<SecurityGroupRow>({ project_id: project, name, tags }, byId);
  readonly securityGroupRules = new Table<SecurityGroupRuleRow>(
    { project_id: project, security_group_id: (row) => [row.security_group_id] },
    byId,
  );
  /** Keyed by subnet. */
  readonly addresses = new Map<string, AddressSpace>();
  /** Quotas that administrators have set, by project. */
  readonly quotas = new Map<string, Quotas>();
  readonly defaultQuotas: Quotas;
  readonly maxAddressPairs: number;

  constructor(clock: Clock, options: { defaultQuotas: Quotas; maxAddressPairs: number }) {
    this.clock = clock;
    this.defaultQuotas = options.defaultQuotas;
    this.maxAddressPairs = options.maxAddressPairs;
  }

  /** Initial values of a new row. */
  newRow(projectId: string, values: { name?: unknown; description?: unknown }): NeutronRow {
    const now = this.now();
    return {
      id: newUuid(),
      project_id: projectId,
      name: typeof values.name === 'string' ? values.name : '',
      description: typeof values.description === 'string' ? values.description : '',
      tags: [],
      created_at: now,
      updated_at: now,
      revision_number: 0,
    };
  }

  /** Values that every change updates. */
  touched(row: NeutronRow): Pick<NeutronRow, 'updated_at' | 'revision_number'> {
    return { updated_at: this.now(), revision_number: row.revision_number + 1 };
  }

  private now(): string {
    return new Date(this.clock.wallTime()).toISOString().replace(/\.\d+Z$/, 'Z');
  }
}
