import { familyOf } from '@causeway/base/address/address';
import { formatPrefix, parseInterface, prefixOf } from '@causeway/base/address/prefix';
import { Refusal } from '../http/refusal.ts';
import { integer, oneOf, orNull, string, uuid, type Attributes } from './attributes.ts';
import { badRequest, conflict, noSuchResource, notFound } from './refusals.ts';
import { commonView, isOwn, ownRows, type Resource, type Values } from './resource.ts';
import type { SecurityGroupRow, SecurityGroupRuleRow } from './rows.ts';
import type { NeutronState } from './state.ts';

const groupAttributes: Attributes = {
  name: { read: string, in: 'both' },
  description: { read: string, in: 'both' },
};

const ruleAttributes: Attributes = {
  security_group_id: { read: uuid, in: 'post', required: true },
  direction: { read: oneOf('ingress', 'egress'), in: 'post', required: true },
  ethertype: { read: oneOf('IPv4', 'IPv6'), in: 'post' },
  protocol: { read: orNull(string), in: 'post' },
  port_range_min: { read: orNull(integer), in: 'post' },
  port_range_max: { read: orNull(integer), in: 'post' },
  remote_ip_prefix: { read: orNull(string), in: 'post' },
  remote_group_id: { read: orNull(uuid), in: 'post' },
  description: { read: string, in: 'post' },
};

export function securityGroupNotFound(id: string) {
  return notFound('SecurityGroupNotFound', `Security group ${id} does not exist`);
}

/** Returns the default group of a project and creates it on the first access. */
export function defaultSecurityGroup(state: NeutronState, projectId: string): SecurityGroupRow {
  const existing = state.securityGroups.by('project_id', projectId).find((row) => row.isDefault);
  if (existing !== undefined) return existing;
  const values = { name: 'default', description: 'Default security group' };
  const group = insertGroup(state, values, projectId, true);
  for (const ethertype of ['IPv4', 'IPv6'] as const) {
    insertRule(state, projectId, group.id, {
      direction: 'ingress',
      ethertype,
      remote_group_id: group.id,
    });
  }
  return group;
}

export function securityGroupResource(state: NeutronState): Resource<SecurityGroupRow> {
  const table = state.securityGroups;
  return {
    path: 'security-groups',
    collection: 'security_groups',
    member: 'security_group',
    quota: 'security_group',
    table,
    attributes: groupAttributes,
    isVisible: isOwn,
    visible: (actor) => {
      defaultSecurityGroup(state, actor.projectId);
      return ownRows(table, actor);
    },
    view: (row) => groupView(state, row),
    notFound: securityGroupNotFound,
    create: (values, _actor, projectId) => {
      defaultSecurityGroup(state, projectId);
      if (values['name'] === 'default') {
        throw conflict(
          'SecurityGroupDefaultAlreadyExists',
          'Default security group already exists.',
        );
      }
      return insertGroup(state, values, projectId, false);
    },
    update: (row, values) => void table.update(row, values),
    remove: (row, actor) => {
      if (state.ports.count('security_group', row.id) > 0) {
        throw conflict('SecurityGroupInUse', `Security Group ${row.id} in use.`);
      }
      if (row.isDefault && !actor.isAdmin) {
        throw conflict(
          'SecurityGroupCannotRemoveDefault',
          'Insufficient rights for removing default security group.',
        );
      }
      for (const rule of state.securityGroupRules.by('security_group_id', row.id)) {
        state.securityGroupRules.delete(rule.id);
      }
      table.delete(row.id);
    },
  };
}

function insertGroup(
  state: NeutronState,
  values: Values,
  projectId: string,
  isDefault: boolean,
): SecurityGroupRow {
  const group = state.securityGroups.insert({ ...state.newRow(projectId, values), isDefault });
  for (const ethertype of ['IPv4', 'IPv6'] as const) {
    insertRule(state, projectId, group.id, { direction: 'egress', ethertype });
  }
  return group;
}

function insertRule(
  state: NeutronState,
  projectId: string,
  groupId: string,
  values: Partial<SecurityGroupRuleRow>,
): SecurityGroupRuleRow {
  return state.securityGroupRules.insert({
    ...state.newRow(projectId, values),
    security_group_id: groupId,
    direction: values.direction ?? 'ingress',
    ethertype: values.ethertype ?? 'IPv4',
    protocol: values.protocol ?? null,
    port_range_min: values.port_range_min ?? null,
    port_range_max: values.port_range_max ?? null,
    remote_ip_prefix: values.remote_ip_prefix ?? null,
    normalized_cidr: values.normalized_cidr ?? null,
    remote_group_id: values.remote_group_id ?? null,
  });
}

export function securityGroupRuleResource(state: NeutronState): Resource<SecurityGroupRuleRow> {
  const table = state.securityGroupRules;
  return {
    path: 'security-group-rules',
    collection: 'security_group_rules',
    member: 'security_group_rule',
    quota: 'security_group_rule',
    table,
    attributes: ruleAttributes,
    isVisible: isOwn,
    visible: (actor) => ownRows(table, actor),
    view: ruleView,
    notFound: noSuchResource,
    create: (values, actor, projectId) => {
      const groupId = values['security_group_id'] as string;
      const group = state.securityGroups.get(groupId);
      if (group === undefined || !isOwn(group, actor)) throw securityGroupNotFound(groupId);
      const wanted = checkRule(values);
      refuseDuplicate(state, groupId, wanted);
      return insertRule(state, projectId, groupId, wanted);
    },
    update: () => {
      throw badRequest('Cannot update read-only attribute');
    },
    remove: (row) => table.delete(row.id),
  };
}

function checkRule(values: Partial<SecurityGroupRuleRow>): Partial<SecurityGroupRuleRow> {
  const { protocol, port_range_min: low, port_range_max: high } = values;
  const hasPorts = typeof low === 'number' || typeof high === 'number';
  if (hasPorts && (protocol === undefined || protocol === null)) {
    throw new Refusal(400, 'Must also specify protocol if port range is given.', {
      type: 'SecurityGroupProtocolRequiredWithPorts',
    });
  }
  if (typeof low === 'number' && typeof high === 'number' && low > high) {
    throw new Refusal(400, 'For TCP/UDP protocols, port_range_min must be <= port_range_max', {
      type: 'SecurityGroupInvalidPortRange',
    });
  }
  const prefix = values.remote_ip_prefix;
  if (typeof prefix !== 'string') return values;
  if (typeof values.remote_group_id === 'string') {
    throw new Refusal(
      400,
      'Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be provided.',
      { type: 'SecurityGroupMultipleRemoteEntites' },
    );
  }
  return { ...values, normalized_cidr: normalise(prefix, values.ethertype ?? 'IPv4') };
}

function normalise(prefix: string, ethertype: string): string {
  let parsed: ReturnType<typeof parseInterface>;
  try {
    parsed = parseInterface(
      prefix.includes('/') ? prefix : `${prefix}/${prefix.includes(':') ? 128 : 32}`,
    );
  } catch {
    throw badRequest(`Invalid input for remote_ip_prefix. Reason: '${prefix}' is not valid.`);
  }
  if (ethertype !== `IPv${familyOf(parsed.address)}`) {
    throw new Refusal(400, `Conflicting value ethertype ${ethertype} for CIDR ${prefix}`, {
      type: 'SecurityGroupRuleParameterConflict',
    });
  }
  return formatPrefix(prefixOf(parsed.address, parsed.length));
}

const identifying = [
  'direction',
  'ethertype',
  'protocol',
  'port_range_min',
  'port_range_max',
  'remote_ip_prefix',
  'remote_group_id',
] as const;

function refuseDuplicate(
  state: NeutronState,
  groupId: string,
  wanted: Partial<SecurityGroupRuleRow>,
): void {
  const values = { ethertype: 'IPv4' as const, ...wanted };
  const same = state.securityGroupRules
    .by('security_group_id', groupId)
    .find((rule) => identifying.every((name) => rule[name] === (values[name] ?? null)));
  if (same === undefined) return;
  throw conflict(
    'SecurityGroupRuleExists',
    `Security group rule already exists. Rule id is ${same.id}.`,
  );
}

function groupView(state: NeutronState, row: SecurityGroupRow): Record<string, unknown> {
  const rules = state.securityGroupRules.by('security_group_id', row.id);
  return {
    ...commonView(row),
    stateful: true,
    shared: false,
    security_group_rules: rules.map(ruleView),
  };
}

function ruleView(row: SecurityGroupRuleRow): Record<string, unknown> {
  const { name: _name, tags: _tags, ...common } = commonView(row);
  return {
    ...common,
    security_group_id: row.security_group_id,
    ethertype: row.ethertype,
    direction: row.direction,
    protocol: row.protocol,
    port_range_min: row.port_range_min,
    port_range_max: row.port_range_max,
    remote_ip_prefix: row.remote_ip_prefix,
    remote_address_group_id: null,
    normalized_cidr: row.normalized_cidr,
    remote_group_id: row.remote_group_id,
  };
}
