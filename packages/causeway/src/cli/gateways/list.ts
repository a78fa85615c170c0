import { Command } from 'commander';
import type { GatewayEntry } from '../../gateway/controller/gateway-config-map.ts';
import type { ControllerSettings } from '../controller/settings.ts';
import { addQueryOptions } from '../config/options.ts';
import { makeAgents } from '../controller/gateway.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import { gatewayFlags } from '../controller/query-options.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';
import { describeRole } from '../../gateway/protocol/role.ts';
import { readGateway } from '../../console/overview/gateway-source.ts';
import type { GatewayRow } from '../../console/overview/rows.ts';
import { withGatewayConfigMap } from './gateway-session.ts';

/** `causeway gateways list`: state of each gateway. */
export function listGatewaysCommand(): Command {
  const command = new Command('list').description(
    'state of each gateway, as the controller sees it, and as the agent reports it if its secret is available',
  );
  addOutputOption(addQueryOptions(command, controllerCommandSettings, gatewayFlags));
  return command.action(async ({ output }: { output: OutputFormat }) => {
    await withGatewayConfigMap(command, async (_client, gateways, settings, signal) => {
      printGateways(output, await askGateways(gateways, settings, signal));
    });
  });
}

/** The controller's record of a gateway, and the agent's own status. */
interface ListedGateway extends GatewayEntry {
  readonly agent: GatewayRow | undefined;
}

const patienceMs = 3_000;

/** Asks every gateway with an available secret. A gateway that does not answer is listed too. */
async function askGateways(
  configMap: readonly GatewayEntry[],
  settings: ControllerSettings,
  signal: AbortSignal,
): Promise<ListedGateway[]> {
  const { agents, secretFile } = settings.gateway;
  const withSecret = agents.filter((agent) => (agent.secretFile ?? secretFile) !== undefined);
  const gateway = { ...settings.gateway, agents: withSecret };
  const clients = await makeAgents({ ...settings, gateway });
  const urls = new Map(agents.map(({ name, url }) => [name, url]));
  const known = new Map(configMap.map((each) => [each.name, each]));
  const names = [...new Set([...known.keys(), ...urls.keys()])].sort();
  return Promise.all(
    names.map(async (name) => {
      const written = known.get(name) ?? { name, fence: undefined, state: undefined };
      const client = clients.get(name);
      if (client === undefined) return { ...written, agent: undefined };
      const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      try {
        const url = urls.get(name) ?? '';
        return { ...written, agent: await readGateway(name, { url, client }, undefined, patience) };
      } catch {
        signal.throwIfAborted();
        return { ...written, agent: undefined };
      } finally {
        await client.close();
      }
    }),
  );
}

function printGateways(output: OutputFormat, gateways: readonly ListedGateway[]): void {
  const flag = (value: boolean | undefined) => (value === undefined ? '-' : value ? 'yes' : 'no');
  printObjects(output, gateways, [
    { title: 'gateway', value: ({ name }) => name },
    { title: 'answers', value: ({ state, agent }) => flag(agent?.reachable ?? state?.reachable) },
    { title: 'role', value: roleOf },
    { title: 'generation', value: ({ agent }) => shown(agent, ({ generation }) => generation) },
    { title: 'current', value: ({ state }) => flag(state?.current) },
    { title: 'frontends', value: ({ agent }) => shown(agent, ({ frontends }) => frontends) },
    { title: 'refused', value: ({ state }) => String(state?.refusedFrontends ?? '-') },
    { title: 'overrides', value: describeOverrides },
    { title: 'fence', value: describeFence },
    { title: 'problems', value: describeProblems },
  ]);
}

function shown(agent: GatewayRow | undefined, value: (row: GatewayRow) => number): string {
  return agent?.reachable === true ? String(value(agent)) : '-';
}

function roleOf({ state, agent }: ListedGateway): string {
  if (agent?.reachable === true) return describeRole(agent.role, agent.roleReason);
  return state?.role ?? '-';
}

function describeOverrides({ agent }: ListedGateway): string {
  const pulled = [
    ...(agent?.isDrained === true ? ['drained'] : []),
    ...(agent?.isFrozen === true ? ['frozen'] : []),
  ];
  return pulled.join(', ') || '-';
}

function describeFence({ fence, state }: ListedGateway): string {
  if (fence === undefined) return state?.fenced === true ? 'in force' : '-';
  const reason = `${fence.reason}, since ${fence.since}`;
  return state?.fenced === true ? `in force (${reason})` : `asked for (${reason})`;
}

function describeProblems({ state, agent }: ListedGateway): string {
  const problems = [...(state?.problems ?? []), agent?.message ?? ''].filter((text) => text !== '');
  return [...new Set(problems)].join('; ') || '-';
}
