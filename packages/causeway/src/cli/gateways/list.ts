import type { GatewayEntry } from '../../gateway/controller/gateway-config-map.ts';
import type { ControllerSettings } from '../controller/settings.ts';
import { readGateway } from '../../console/overview/gateway-source.ts';
import type { GatewayRow } from '../../console/overview/rows.ts';
import { makeAgents } from '../controller/gateway.ts';
import { printObjects, type OutputFormat } from '../terminal/output.ts';

/** The controller's record of a gateway, and the agent's own status. */
interface ListedGateway extends GatewayEntry {
  readonly agent: GatewayRow | undefined;
}

const patienceMs = 3_000;

/** Asks every gateway with an available secret. A gateway that does not answer is listed too. */
export async function askGateways(
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

export function printGateways(output: OutputFormat, gateways: readonly ListedGateway[]): void {
  const flag = (value: boolean | undefined) => (value === undefined ? '-' : value ? 'yes' : 'no');
  printObjects(output, gateways, [
    { title: 'gateway', value: ({ name }) => name },
    { title: 'answers', value: ({ state, agent }) => flag(agent?.reachable ?? state?.reachable) },
    { title: 'vrrp', value: describeVrrp },
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

function describeVrrp({ state, agent }: ListedGateway): string {
  if (agent?.reachable === true) return agent.vrrp;
  if (state?.master === undefined) return '-';
  return state.master ? 'MASTER' : 'BACKUP';
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
