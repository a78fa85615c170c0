import type { AgentStatus } from '../../protocol/agent-status.ts';

/**
 * A problem if gateways have different seeds: they then choose different backends for the same client, so a
 * failover breaks running connections. Gateways that report no seed don't count.
 */
export function describeSeeds(
  statuses: ReadonlyMap<string, Pick<AgentStatus, 'seed'>>,
): string | undefined {
  const groups = new Map<string, string[]>();
  for (const [name, { seed }] of statuses) {
    if (seed === undefined) continue;
    groups.set(seed, [...(groups.get(seed) ?? []), name]);
  }
  if (groups.size < 2) return undefined;
  const named = [...groups.values()].map((names) => names.join(' and '));
  return `different-seeds: these gateways have different seeds: ${named.join('; ')}. A failover between them breaks running connections. Give all gateways the same seedFile.`;
}
