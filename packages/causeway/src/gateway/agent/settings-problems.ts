import type { AgentSettings } from './settings.ts';

/**
 * Mistakes with which an agent starts, but does not work as intended. `causeway config validate` rejects them.
 * A running gateway keeps its addresses through an upgrade, so the agent only logs them.
 */
export function settingsProblems(settings: AgentSettings): readonly string[] {
  return [...ownPeers(settings), ...missingSecrets(settings)];
}

function ownPeers({ external, internal }: AgentSettings): string[] {
  const problems: string[] = [];
  for (const [name, network] of Object.entries({ external, internal })) {
    if (network === undefined) continue;
    for (const family of [4, 6] as const) {
      const own = network[`address${family}`];
      if (own === undefined || !network[`peers${family}`].includes(own)) continue;
      problems.push(
        `${name}.peers${family} has ${own}, which is this gateway's own address (${name}.address${family})`,
      );
    }
  }
  return problems;
}

function missingSecrets({ secretsFile, v1 }: AgentSettings): string[] {
  if (secretsFile !== undefined || v1.secretsFile !== undefined) return [];
  return ['secretsFile is not set, so no controller can connect to this agent'];
}

/** The files that the settings name, by setting. */
export function namedFiles({
  secretsFile,
  seedFile,
  v1,
  tls,
}: AgentSettings): Readonly<Record<string, string | undefined>> {
  return {
    secretsFile,
    seedFile,
    'v1.secretsFile': v1.secretsFile,
    'tls.certificateFile': tls.certificateFile,
    'tls.keyFile': tls.keyFile,
    'tls.clientAuthorityFile': tls.clientAuthorityFile,
  };
}
