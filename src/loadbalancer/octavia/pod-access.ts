import { familyOf, type Family } from '../../domain/address.ts';
import { formatPrefix, type Prefix } from '../../domain/prefix.ts';
import type { CallOptions } from '../../openstack/call.ts';
import { OpenStackError } from '../../openstack/error.ts';
import type { Neutron } from '../../openstack/neutron/neutron.ts';
import type { SecurityGroupRule } from '../../openstack/neutron/resources.ts';
import type { SecurityGroupRuleSpec } from '../../openstack/neutron/specs.ts';
import type { Identity } from './identity.ts';
import type { WantedBalancer } from './wanted.ts';

export interface PodAccessOptions {
  readonly neutron: Neutron;
  readonly identity: Identity;
  /** The security group of the members. */
  readonly groupId: string;
  /** The networks that load balancers connect from, by family. */
  readonly sources: ReadonlyMap<Family, Prefix>;
}

/** Opens the members' security group for what load balancers connect to, and closes it behind them. */
export class PodAccess {
  readonly #options: PodAccessOptions;
  readonly #present = new Map<string, SecurityGroupRule>();

  constructor(options: PodAccessOptions) {
    this.#options = options;
  }

  async list(call: CallOptions): Promise<void> {
    const { neutron, groupId } = this.#options;
    const present = new Map<string, SecurityGroupRule>();
    const filter = { securityGroupId: groupId, direction: 'ingress' } as const;
    for await (const rule of neutron.securityGroupRules.list(filter, call)) {
      present.set(keyOfRule(rule), rule);
    }
    this.#present.clear();
    for (const [key, rule] of present) this.#present.set(key, rule);
  }

  /** One request for all that is missing; none when nothing is. */
  async open(wanted: WantedBalancer, call: CallOptions): Promise<void> {
    const { neutron } = this.#options;
    const missing = this.rulesFor(wanted).filter((rule) => !this.#present.has(keyOfRule(rule)));
    if (missing.length === 0) return;
    try {
      const made = await neutron.securityGroupRules.createMany(missing, call);
      for (const rule of made) this.#present.set(keyOfRule(rule), rule);
    } catch (error) {
      // Somebody has made one of them meanwhile.
      if (!(error instanceof OpenStackError) || error.status !== 409) throw error;
      await this.list(call);
      for (const rule of this.rulesFor(wanted)) {
        if (this.#present.has(keyOfRule(rule))) continue;
        const made = await neutron.securityGroupRules.create(rule, call);
        this.#present.set(keyOfRule(made), made);
      }
    }
  }

  /** Removes rules of ours that no load balancer needs. */
  async close(all: Iterable<WantedBalancer>, call: CallOptions): Promise<void> {
    const { neutron, identity } = this.#options;
    const needed = new Set<string>();
    for (const wanted of all) {
      for (const rule of this.rulesFor(wanted)) needed.add(keyOfRule(rule));
    }
    for (const [key, rule] of this.#present) {
      if (needed.has(key) || rule.description !== identity.ruleDescription) continue;
      await neutron.securityGroupRules.delete(rule.id, call);
      this.#present.delete(key);
    }
  }

  rulesFor({ listeners, servingProvider }: WantedBalancer): SecurityGroupRuleSpec[] {
    const { groupId, identity, sources } = this.#options;
    const rules = new Map<string, SecurityGroupRuleSpec>();
    for (const { pool } of listeners) {
      for (const { address, port, monitorPort } of pool.members) {
        const family = familyOf(address);
        // OVN rewrites no source: members see the clients themselves.
        const source = servingProvider === 'ovn' ? undefined : sources.get(family);
        const common = {
          securityGroupId: groupId,
          direction: 'ingress',
          family,
          description: identity.ruleDescription,
          ...(source === undefined ? {} : { remotePrefix: source }),
        } as const;
        const transport =
          pool.protocol === 'UDP' || pool.protocol === 'SCTP' ? pool.protocol : 'TCP';
        const ports = new Map<number, string>([[port, transport.toLowerCase()]]);
        if (monitorPort !== undefined && monitorPort !== null) ports.set(monitorPort, 'tcp');
        for (const [number, protocol] of ports) {
          const rule = { ...common, protocol, portMin: number, portMax: number };
          rules.set(keyOfRule(rule), rule);
        }
      }
    }
    return [...rules.values()];
  }
}

function keyOfRule(rule: {
  readonly family: Family;
  readonly protocol?: string | undefined;
  readonly portMin?: number | undefined;
  readonly portMax?: number | undefined;
  readonly remotePrefix?: Prefix | undefined;
}): string {
  const { family, protocol, portMin, portMax, remotePrefix } = rule;
  const source = remotePrefix === undefined ? '' : formatPrefix(remotePrefix);
  return [family, protocol, portMin, portMax, source].join(' ');
}
