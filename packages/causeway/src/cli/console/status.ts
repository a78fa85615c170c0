import { Command } from 'commander';
import { withoutControls } from '@causeway/base/text/printable';
import { configMaps, leases } from '@causeway/kubernetes/objects/resources';
import {
  gatewayConfigMapName,
  readGatewayConfigMap,
  whyNoneServes,
} from '../../gateway/controller/gateway-config-map.ts';
import { guardRegisterName, readGuardRegister } from '../../services/guard-register.ts';
import {
  orphanRegisterName,
  damagedReports,
  describeDamage,
  readOrphanRegister,
  type RegisteredReport,
} from '../../services/orphan-register.ts';
import { countOrphans } from '../../services/orphan.ts';
import { readServices } from '../../console/overview/read-cluster.ts';
import type { ServiceRow, ServiceState } from '../../console/overview/rows.ts';
import { systemClock } from '@causeway/base/time/clock';
import {
  addClusterOptions,
  withCluster,
  type ClusterOptions,
  type ClusterSession,
} from '../cluster/cluster-connection.ts';
import { style } from '../terminal/output.ts';

interface StatusOptions extends ClusterOptions {
  readonly systemNamespace: string;
}

const shownTroubles = 10;

/** `causeway status`: overview of everything; exit code 1 if there is a problem. */
export function statusCommand(): Command {
  const command = new Command('status')
    .description('overview of everything; exit code 1 if there is a problem')
    .option('--system-namespace <name>', "namespace of the controller's lease", 'kube-system');
  addClusterOptions(command, 'count the Services of this namespace only');
  return command.action(async (options: StatusOptions) => {
    await withCluster(options, async (session) => {
      const parts = [
        await controllerPart(session, options.systemNamespace),
        await gatewayPart(session, options.systemNamespace),
        ...(await guardParts(session, options.systemNamespace)),
        ...(await orphanParts(session, options.systemNamespace)),
        servicePart(await readServices(session.client, options.namespace, session.signal)),
      ];
      for (const { lines } of parts) process.stdout.write(`${lines.join('\n')}\n`);
      if (parts.some(({ isWell }) => !isWell)) process.exitCode = 1;
    });
  });
}

interface Part {
  readonly isWell: boolean;
  readonly lines: readonly string[];
}

const mark = (isWell: boolean) => (isWell ? style('green', '✓') : style('red', '✗'));

async function controllerPart(
  { client, signal }: ClusterSession,
  namespace: string,
): Promise<Part> {
  const name = { namespace, name: 'causeway-controller' };
  const lease = await client.find(leases, name, { signal });
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
  const ageMs = systemClock.wallTime() - Date.parse(renewTime ?? '');
  const isWell = holderIdentity !== '' && ageMs < (leaseDurationSeconds ?? 0) * 1000;
  const text = isWell
    ? `controller   ${holderIdentity} leads`
    : lease === undefined
      ? `controller   none has run here (no lease ${namespace}/${name.name})`
      : 'controller   no leader: no controller is running';
  return { isWell, lines: [`${mark(isWell)} ${text}`] };
}

async function gatewayPart({ client, signal }: ClusterSession, namespace: string): Promise<Part> {
  const configMap = await client.find(
    configMaps,
    { namespace, name: gatewayConfigMapName },
    { signal },
  );
  const gateways = configMap === undefined ? [] : readGatewayConfigMap(configMap);
  if (gateways.length === 0) return { isWell: true, lines: [`- gateways     none`] };
  const lines = gateways.map(({ name, state, fence }) => {
    const isWell = state?.reachable === true && state.problems.length === 0;
    const words = [
      state?.reachable === true ? 'answers' : 'does not answer',
      ...(state?.role === 'active' ? ['active'] : []),
      ...(state?.current === true ? [] : ['behind']),
      ...(fence === undefined ? [] : ['fenced']),
      ...(state?.problems ?? []),
    ];
    return {
      isWell,
      text: `${mark(isWell)} gateway      ${withoutControls(`${name}: ${words.join(', ')}`)}`,
    };
  });
  const why = whyNoneServes(gateways);
  return {
    isWell: why === undefined && lines.every(({ isWell }) => isWell),
    lines: [
      ...lines.map(({ text }) => text),
      ...(why === undefined ? [] : [`${mark(false)} gateways     ${why.message}`]),
    ],
  };
}

/** Empty if no guard holds anything back. */
async function guardParts(
  { client, signal }: ClusterSession,
  namespace: string,
): Promise<readonly Part[]> {
  const name = { namespace, name: guardRegisterName };
  const register = await client.find(configMaps, name, { signal });
  return readGuardRegister(register ?? {}).map(({ guard, message, since }) => ({
    isWell: false,
    lines: [`${mark(false)} ${guardLine(guard, message, since)}`],
  }));
}

export function guardLine(guard: string, message: string, since: string): string {
  return withoutControls(`guard        ${guard}, since ${since}: ${message}`);
}

/** Empty if no controller keeps orphans. */
async function orphanParts(
  { client, signal }: ClusterSession,
  namespace: string,
): Promise<readonly Part[]> {
  const name = { namespace, name: orphanRegisterName };
  const register = await client.find(configMaps, name, { signal });
  const damage = damagedReports(register ?? {}).map((each) => [
    `orphans      ${describeDamage(each)}`,
  ]);
  return [...damage, ...readOrphanRegister(register ?? {}).map(orphanLines)].map((lines) => ({
    isWell: false,
    lines: lines.map((line) => `${mark(false)} ${withoutControls(line)}`),
  }));
}

export function orphanLines({
  provider,
  clusterId,
  count,
  orphans,
  otherClusters,
}: RegisteredReport): string[] {
  const rest = count > orphans.length ? ` and ${count - orphans.length} more` : '';
  return [
    ...(count === 0
      ? []
      : [
          `orphans      ${provider} keeps ${countOrphans(orphans)}${rest} that no Service uses: causeway orphans list`,
        ]),
    ...otherClusters.map(
      (uid) =>
        `cluster ID   another cluster (UID ${uid}) uses the clusterId ${clusterId} too: give each cluster its own`,
    ),
  ];
}

function servicePart(rows: readonly ServiceRow[]): Part {
  const ours = rows.filter(({ state }) => state !== 'internal');
  const counts = new Map<ServiceState, number>();
  for (const { state } of ours) counts.set(state, (counts.get(state) ?? 0) + 1);
  const troubles = ours.filter(({ state }) => state === 'failed' || state === 'unmatched');
  const summary =
    [...counts].map(([state, count]) => `${count} ${state}`).join(', ') || 'none from outside';
  const lines = [`${mark(troubles.length === 0)} Services     ${summary}`];
  for (const { key, message } of troubles.slice(0, shownTroubles)) {
    lines.push(withoutControls(`    ${key}: ${message}`));
  }
  if (troubles.length > shownTroubles) {
    lines.push(`    and ${troubles.length - shownTroubles} more: causeway services --state failed`);
  }
  return { isWell: troubles.length === 0, lines };
}
