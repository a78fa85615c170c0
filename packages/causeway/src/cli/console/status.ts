import { Command } from 'commander';
import { withoutControls } from '@causeway/base/text/printable';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { guardRegisterName, readGuardRegister } from '../../services/guard-register.ts';
import {
  orphanRegisterName,
  damagedReports,
  describeDamage,
  readOrphanRegister,
  type RegisteredReport,
} from '../../services/orphan-register.ts';
import { countOrphans } from '../../services/orphan.ts';
import { findSystemNamespace, readClusterFacts } from '../../console/overview/cluster-facts.ts';
import { readServices, type AssessedService } from '../../console/overview/read-cluster.ts';
import { forAge } from '../../health/age-text.ts';
import { gatewayHealth } from '../../health/gateway-health.ts';
import { clusterHealth, type ClusterHealth } from '../../health/service-health.ts';
import { isProblem, type HealthState } from '../../health/state.ts';
import { systemClock } from '@causeway/base/time/clock';
import {
  addClusterOptions,
  addSystemNamespaceOption,
  withCluster,
  type ClusterOptions,
  type ClusterSession,
} from '../cluster/cluster-connection.ts';
import { exitCodes } from '../terminal/exit-code.ts';
import { addOutputOption, formatValue, style, type OutputFormat } from '../terminal/output.ts';

interface StatusOptions extends ClusterOptions {
  readonly systemNamespace?: string;
  readonly output: OutputFormat;
}

const shownProblems = 10;

/** `causeway status`: overview of everything; exit code 1 if there is a problem. */
export function statusCommand(): Command {
  const command = new Command('status').description(
    'overview of everything; exit code 1 if there is a problem',
  );
  addSystemNamespaceOption(command);
  addOutputOption(addClusterOptions(command, 'count the Services of this namespace only'));
  return command.action(async (options: StatusOptions) => {
    await withCluster(options, async (session) => {
      const { client, signal } = session;
      const { namespace, output } = options;
      const systemNamespace =
        options.systemNamespace ?? (await findSystemNamespace(client, signal));
      const facts = await readClusterFacts(client, systemNamespace, systemClock, signal);
      const cluster = clusterHealth(facts);
      const services = await readServices(client, namespace, cluster, signal);
      const parts = [
        controllerPart(cluster),
        gatewayPart(cluster),
        ...(await guardParts(session, systemNamespace)),
        ...(await orphanParts(session, systemNamespace)),
        servicePart(services, cluster, output === 'wide'),
      ];
      process.stdout.write(format(parts, output));
      if (parts.some(({ isWell }) => !isWell)) process.exitCode = exitCodes.failure;
    });
  });
}

interface Part {
  readonly isWell: boolean;
  readonly lines: readonly string[];
  /** The same for programs. */
  readonly value: object;
}

function format(parts: readonly Part[], output: OutputFormat): string {
  if (output !== 'json' && output !== 'yaml') {
    return parts.map(({ lines }) => `${lines.join('\n')}\n`).join('');
  }
  const isWell = parts.every((part) => part.isWell);
  return formatValue(output, Object.assign({ isWell }, ...parts.map(({ value }) => value)));
}

const mark = (isWell: boolean) => (isWell ? style('green', '✓') : style('red', '✗'));

function controllerPart({ controller, facts: { now } }: ClusterHealth): Part {
  const { leader, cause } = controller;
  const value = { controller: { leader: leader ?? '', problem: cause?.message ?? '' } };
  if (cause === undefined) {
    const text = leader === undefined ? 'not checked: no permission' : `${leader} leads`;
    return { isWell: true, lines: [`${mark(true)} controller   ${withoutControls(text)}`], value };
  }
  const text = withoutControls(`${cause.message}${ageOf(cause.since, now)}`);
  const lines = [`${mark(false)} controller   ${text}`, `    → ${cause.remedy}`];
  return { isWell: false, lines, value };
}

/** The age of a problem as a sentence of its own. */
function ageOf(since: number | undefined, now: number): string {
  return since === undefined ? '' : ` (${forAge(since, now).trim()})`;
}

function gatewayPart({ facts }: ClusterHealth): Part {
  const gateways = (facts.gateways ?? []).map((each) => gatewayHealth(each, facts.now));
  const value = { gateways };
  if (gateways.length === 0) return { isWell: true, lines: ['- gateways     none'], value };
  const lines = gateways.map((gateway) => {
    const { name, role, problems, since } = gateway;
    const age = ageOf(since, facts.now);
    const shown = role === 'not-known' ? 'role not known' : role;
    const text = `${name}: ${[`${shown}${age}`, ...problems].join(', ')}`;
    return `${mark(!gateway.isProblem)} gateway      ${withoutControls(text)}`;
  });
  return { isWell: !gateways.some((each) => each.isProblem), lines, value };
}

/** Empty if no guard holds anything back. */
async function guardParts(
  { client, signal }: ClusterSession,
  namespace: string,
): Promise<readonly Part[]> {
  const name = { namespace, name: guardRegisterName };
  const register = await client.find(configMaps, name, { signal });
  const held = readGuardRegister(register ?? {});
  if (held.length === 0) return [];
  const lines = held.map(
    ({ guard, message, since }) => `${mark(false)} ${guardLine(guard, message, since)}`,
  );
  return [{ isWell: false, lines, value: { guards: held } }];
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
  const found = [...damage, ...readOrphanRegister(register ?? {}).map(orphanLines)];
  const value = { orphans: found.flat() };
  return found.map((lines) => ({
    isWell: false,
    lines: lines.map((line) => `${mark(false)} ${withoutControls(line)}`),
    value,
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

function servicePart(
  services: readonly AssessedService[],
  { facts: { now } }: ClusterHealth,
  isWide: boolean,
): Part {
  const ours = services.filter(({ health }) => health.state !== 'internal');
  const counts = new Map<HealthState, number>();
  for (const { health } of ours) counts.set(health.state, (counts.get(health.state) ?? 0) + 1);
  const problems = ours.filter(({ health }) => isProblem(health, now));
  const summary =
    [...counts].map(([state, count]) => `${count} ${state}`).join(', ') || 'none from outside';
  const lines = [`${mark(problems.length === 0)} Services     ${summary}`];
  const most = isWide ? problems.length : shownProblems;
  for (const { health, row } of problems.slice(0, most)) {
    const age = forAge(health.causes[0]?.since, now);
    lines.push(withoutControls(`    ${row.key}: ${row.state}${age}: ${row.message}`));
    if (row.remedy !== '') lines.push(withoutControls(`      → ${row.remedy}`));
  }
  if (problems.length > most) {
    lines.push(`    and ${problems.length - most} more: causeway status -o wide`);
  }
  const value = {
    services: { counts: Object.fromEntries(counts), problems: problems.map(({ row }) => row) },
  };
  return { isWell: problems.length === 0, lines, value };
}
