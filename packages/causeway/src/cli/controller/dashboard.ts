import type { HttpAgentClient } from '../../gateway/protocol/agent-client.ts';
import { runDashboard } from '../../console/dashboard/dashboard.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { IpamClient } from '../../ipam/api/client.ts';
import type { Readiness } from '@causeway/base/observability/readiness';
import { systemClock } from '@causeway/base/time/clock';
import { makeAgents } from './gateway.ts';
import type { ProviderSurroundings } from './providers.ts';
import type { ControllerCommandSettings } from './load-settings.ts';
import { readTextFile } from '../terminal/read-text-file.ts';

/** The dashboard as configured in the controller's settings. It only reads, so every replica serves one. */
export async function serveDashboard(
  settings: ControllerCommandSettings,
  surroundings: ProviderSurroundings,
  readiness: Readiness,
  signal: AbortSignal,
): Promise<void> {
  const { dashboard, gateway, leaderElection } = settings;
  let isListening = false;
  readiness.add('dashboard', () => (isListening ? undefined : 'it is not listening yet'));
  if (dashboard.tokenFile === undefined) {
    throw new CausewayError('invalid', 'dashboard.tokenFile is missing', {
      hint: 'Name a file with a long random token; users open the dashboard with ?token= and that token.',
    });
  }
  const token = (await readTextFile(dashboard.tokenFile)).trim();
  if (token.length < 16) {
    throw new CausewayError('invalid', `the token in ${dashboard.tokenFile} is too short`, {
      hint: 'Use at least 16 characters, such as from "openssl rand -hex 16".',
    });
  }
  const agents = gateway.enabled ? await makeAgents(settings) : new Map<string, HttpAgentClient>();
  const urls = new Map(gateway.agents.map(({ name, url }) => [name, url]));
  const gateways = new Map(
    [...agents].map(([name, client]) => [name, { client, url: urls.get(name) ?? '' }]),
  );
  const ipam = await openIpam(dashboard.ipam);
  const pools = ipam === undefined ? undefined : { client: ipam, sites: dashboard.ipam.sites };
  const { address: host, port } = dashboard;
  try {
    const onListening = () => {
      isListening = true;
    };
    const { namespace: systemNamespace } = leaderElection;
    const where = { host, port, token, systemNamespace, onListening };
    const options = { ...surroundings, ...where, gateways, pools };
    await runDashboard(options, signal);
  } finally {
    await ipam?.close();
    await Promise.all([...agents.values()].map((client) => client.close()));
  }
}

async function openIpam({
  urls,
  tokenFile,
  authorityFile,
}: ControllerCommandSettings['dashboard']['ipam']): Promise<IpamClient | undefined> {
  if (urls.length === 0) return undefined;
  return new IpamClient({
    urls,
    clock: systemClock,
    token: tokenFile === undefined ? undefined : async () => (await readTextFile(tokenFile)).trim(),
    tls: authorityFile === undefined ? undefined : { ca: await readTextFile(authorityFile) },
  });
}
