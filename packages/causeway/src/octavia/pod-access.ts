import { familyOf, type Family } from '@causeway/base/address/address';
import { isErrorCode } from '@causeway/base/error/causeway-error';
import { formatPrefix, type Prefix } from '@causeway/base/address/prefix';
import type { CallOptions } from '@causeway/openstack/call';
import { OpenStackError } from '@causeway/openstack/error';
import type { Neutron } from '@causeway/openstack/neutron/neutron';
import type { SecurityGroupRule } from '@causeway/openstack/neutron/resources';
import type { SecurityGroupRuleSpec } from '@causeway/openstack/neutron/specs';
import type { Identity } from './identity.ts';
import type { ObservedBalancer } from './observed.ts';
import type { WantedBalancer } from './desired.ts';

export interface PodAccessOptions {
  readonly neutron: Neutron;
  readonly identity: Identity;
  /** The security group of the members. */
  readonly groupId: string;
}

/** A load balancer, and the subnet of its VIP if known. */
export interface Reach {
  readonly wanted: WantedBalancer;
  readonly vipSubnetId: string | undefined;
}

export function reachOf(wanted: WantedBalancer, observed: ObservedBalancer | undefined): Reach {
  return { wanted, vipSubnetId: observed?.balancer.vipSubnetId ?? wanted.subnetId };
}

/** Opens the members' security group for the connections of load balancers, and closes it again. */
export class PodAccess {
  readonly #options: PodAccessOptions;
  readonly #present = new Map<string, SecurityGroupRule>();
  /** The IDs of rules that a load balancer of this cluster has needed. */
  readonly #needed = new Set<string>();
  /** Null if the subnet does not exist. */
  readonly #subnets = new Map<string, Prefix | null>();

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

  /**
   * Sends one request for all missing rules, and none if all exist. Returns whether the source of the
   * connections is known. If it is unknown, nothing is opened, because the rule would allow every source.
   */
  async open(reach: Reach, call: CallOptions): Promise<boolean> {
    const { neutron } = this.#options;
    const { rules, isComplete } = await this.#rulesFor(reach, call);
    const missing = rules.filter((rule) => !this.#present.has(keyOfRule(rule)));
    if (missing.length === 0) return isComplete;
    try {
      const made = await neutron.securityGroupRules.createMany(missing, call);
      for (const rule of made) this.#present.set(keyOfRule(rule), rule);
    } catch (error) {
      // Another program has created one of the rules in the meantime.
      if (!(error instanceof OpenStackError) || error.status !== 409) throw error;
      await this.list(call);
      for (const rule of rules) {
        if (this.#present.has(keyOfRule(rule))) continue;
        const made = await neutron.securityGroupRules.create(rule, call);
        this.#present.set(keyOfRule(made), made);
      }
    }
    return isComplete;
  }

  /** Whether a needed rule is missing, as of the last list. */
  async isClosedFor(reach: Reach, call: CallOptions): Promise<boolean> {
    const { rules } = await this.#rulesFor(reach, call);
    return rules.some((rule) => !this.#present.has(keyOfRule(rule)));
  }

  /**
   * Removes rules of this cluster that no load balancer needs. A rule without the UID of a cluster is removed
   * only if a load balancer of this cluster has needed it since the start.
   */
  async close(all: Iterable<Reach>, call: CallOptions): Promise<void> {
    const { neutron, identity } = this.#options;
    const needed = new Set<string>();
    for (const reach of all) {
      const { rules, isComplete } = await this.#rulesFor(reach, call);
      // The needed rules are not all known, so a rule that looks unneeded may be needed.
      if (!isComplete) return;
      for (const rule of rules) needed.add(keyOfRule(rule));
    }
    for (const [key, rule] of this.#present) {
      const standing = identity.standing(rule);
      if (needed.has(key)) this.#needed.add(rule.id);
      const isOurs = standing === 'own' || (standing === 'old' && this.#needed.has(rule.id));
      if (needed.has(key) || !isOurs) continue;
      await neutron.securityGroupRules.delete(rule.id, call);
      this.#needed.delete(rule.id);
      this.#present.delete(key);
    }
  }

  async #rulesFor(
    { wanted: { listeners, servingProvider }, vipSubnetId }: Reach,
    call: CallOptions,
  ): Promise<{ readonly rules: SecurityGroupRuleSpec[]; readonly isComplete: boolean }> {
    const { groupId, identity } = this.#options;
    const rules = new Map<string, SecurityGroupRuleSpec>();
    let isComplete = true;
    for (const { pool } of listeners) {
      for (const { address, port, monitorPort, subnetId } of pool.members) {
        const family = familyOf(address);
        // OVN keeps the source: members see the clients themselves. Other providers connect from the members'
        // own subnet if configured, otherwise from the VIP's.
        const isOpen = servingProvider === 'ovn';
        const source = isOpen ? undefined : await this.#cidr(subnetId ?? vipSubnetId, call);
        if (source === undefined && !isOpen) {
          isComplete = false;
          continue;
        }
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
    return { rules: [...rules.values()], isComplete };
  }

  async #cidr(subnetId: string | undefined, call: CallOptions): Promise<Prefix | undefined> {
    if (subnetId === undefined) return undefined;
    const known = this.#subnets.get(subnetId);
    if (known !== undefined) return known ?? undefined;
    try {
      const { cidr } = await this.#options.neutron.subnets.get(subnetId, call);
      this.#subnets.set(subnetId, cidr);
      return cidr;
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
      this.#subnets.set(subnetId, null);
      return undefined;
    }
  }
}

function keyOfRule(rule: {
  readonly family: Family;
  readonly protocol?: string | undefined;
  readonly portMin?: number | undefined;
  readonly portMax?: number | undefined;
  readonly remotePrefix?: Prefix | undefined;
  readonly remoteGroupId?: string | undefined;
}): string {
  const { family, protocol, portMin, portMax, remotePrefix, remoteGroupId } = rule;
  const source = remotePrefix === undefined ? (remoteGroupId ?? '') : formatPrefix(remotePrefix);
  return [family, protocol, portMin, portMax, source].join(' ');
}
