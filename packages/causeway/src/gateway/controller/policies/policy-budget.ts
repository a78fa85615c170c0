import type { NetworkPolicy } from '@causeway/kubernetes/objects/network-objects';
import type { BudgetExcess } from '@causeway/kubernetes/objects/service-budget';

/**
 * The limits for the network policies of one namespace, for connections to its pods. The API server accepts
 * more than a gateway can load in time. docs/limits.md has these figures for users.
 */
export const policyBudget = {
  rules: 500,
  /** Exceptions of a block count too. */
  blocks: 5_000,
  ports: 5_000,
} as const;

const remedy = 'Reduce them, or split the namespace.';

/**
 * Why the network policies of a namespace exceed the budget; undefined if they fit. Counts only, without
 * parsing.
 */
export function policyExcess(policies: readonly NetworkPolicy[]): BudgetExcess | undefined {
  const rules = policies.flatMap(({ spec }) => spec?.ingress ?? []);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const blocksIn = (rule: (typeof rules)[number]) =>
    sum((rule.from ?? []).map(({ ipBlock }) => (ipBlock ? 1 + (ipBlock.except ?? []).length : 0)));
  const counts = [
    ['rules', rules.length, policyBudget.rules],
    ['address blocks and exceptions', sum(rules.map(blocksIn)), policyBudget.blocks],
    ['ports', sum(rules.map(({ ports }) => ports?.length ?? 0)), policyBudget.ports],
  ] as const;
  const over = counts.find(([, count, most]) => count > most);
  if (over === undefined) return undefined;
  const [what, count, most] = over;
  return {
    reason: 'OverBudget',
    message: `The NetworkPolicies of the namespace have ${count} ${what}; gateways accept up to ${most}. ${remedy}`,
  };
}
