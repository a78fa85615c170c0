import type { HttpAgentClient } from '../../gateway/protocol/agent-client.ts';
import type { AgentStatus, FrontendCount } from '../../gateway/protocol/agent-status.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { noProblems, type GatewayFacts } from '../../health/facts.ts';
import { gatewayPath } from '../../health/gateway-health.ts';
import type { RowStore } from './row-store.ts';
import type { GatewayRow, ServiceRow } from './rows.ts';

export interface Gateway {
  readonly url: string;
  readonly client: Pick<HttpAgentClient, 'status' | 'counters'>;
}

const everyMs = 1_000;

/** Polls the status of every gateway. A hung gateway does not delay the others. */
export async function watchGateways(
  gateways: ReadonlyMap<string, Gateway>,
  rowStore: RowStore,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const loops = [...gateways].map(([name, gateway]): [string, Loop] => [
    `gateway ${name}`,
    async (inner) => {
      for (;;) {
        const row = await readGateway(name, gateway, rowStore.get('gateway', name), inner);
        rowStore.set('gateway', row);
        await sleep(clock, everyMs, inner);
      }
    },
  ]);
  await supervise(signal, Object.fromEntries(loops));
}

/** The gateway's current status; if it does not answer, its last one. */
export async function readGateway(
  name: string,
  { url, client }: Gateway,
  last: GatewayRow | undefined,
  signal: AbortSignal,
): Promise<GatewayRow> {
  try {
    return gatewayRow(name, url, await client.status(signal));
  } catch (error) {
    signal.throwIfAborted();
    const { message } = CausewayError.from(error);
    return {
      ...(last ?? neverSeen(name, url)),
      reachable: false,
      canServe: false,
      role: 'unknown',
      roleReason: null,
      message,
    };
  }
}

export function gatewayRow(name: string, url: string, status: AgentStatus): GatewayRow {
  return {
    key: name,
    url,
    reachable: true,
    canServe: canServe(answerFacts(name, status, 0)),
    message: problemOf(status),
    role: status.announcer.role,
    roleReason: status.announcer.reason,
    roleSince: status.announcer.since ?? '',
    generation: status.generation,
    frontends: status.frontends,
    isDrained: status.drained !== null,
    isFrozen: status.frozen !== null,
    alarms: status.alarms,
    unhealthy: status.unhealthy.acted,
    connections: status.connections?.count ?? 0,
    connectionLimit: status.connections?.limit ?? 0,
    version: status.version,
  };
}

/** Whether the gateway serves at least one address family, if it gets packets. */
function canServe(facts: GatewayFacts): boolean {
  const now = facts.observedAt ?? 0;
  return ([4, 6] as const).some((family) => gatewayPath(facts, family, now).ability === 'able');
}

/** The facts in the gateway's own answer. It does not know which Services it should serve. */
export function answerFacts(name: string, status: AgentStatus, now: number): GatewayFacts {
  return {
    name,
    observedAt: now,
    reachable: true,
    failure: undefined,
    failedSince: undefined,
    role: status.announcer.role,
    alarms: status.alarms,
    isFenced: false,
    rejected: noProblems,
    unconfirmed: noProblems,
  };
}

/** The facts about a gateway that does not answer. */
export function noAnswerFacts(name: string, failure: string, now: number): GatewayFacts {
  return {
    name,
    observedAt: now,
    reachable: false,
    failure,
    failedSince: undefined,
    role: undefined,
    alarms: [],
    isFenced: false,
    rejected: noProblems,
    unconfirmed: noProblems,
  };
}

function problemOf(status: AgentStatus): string {
  const withheld = status.withheld?.length ?? 0;
  const wrongSettings = status.kernelSettings.filter(({ wanted, found }) => wanted !== found);
  const problems = [
    ...status.alarms,
    ...(status.sound ? [] : ['The kernel may differ from the accepted configuration.']),
    ...(status.errors.length === 0 ? [] : [`${status.errors.length} frontends were rejected.`]),
    ...(withheld === 0
      ? []
      : [`${withheld} frontends are still served: their removal is not confirmed yet.`]),
    ...wrongSettings.map(
      ({ name, wanted, found }) => `${name} is ${found ?? 'missing'}, not ${wanted}.`,
    ),
  ];
  return problems.join(' ');
}

function neverSeen(name: string, url: string): GatewayRow {
  return {
    key: name,
    url,
    reachable: false,
    canServe: false,
    message: '',
    role: 'unknown',
    roleReason: null,
    roleSince: '',
    generation: 0,
    frontends: 0,
    isDrained: false,
    isFrozen: false,
    alarms: [],
    unhealthy: [],
    connections: 0,
    connectionLimit: 0,
    version: '',
  };
}

/**
 * Number of connections to the Service that the gateway has counted; undefined if it does not answer. A
 * floating IP is translated before the gateway, so the Service's name is matched beside its addresses.
 */
export async function connectionsTo(
  { client }: Gateway,
  { key, addresses }: Pick<ServiceRow, 'key' | 'addresses'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  let counts: readonly FrontendCount[];
  try {
    counts = await client.counters(signal);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
  return counts
    .filter(({ address, service }) => service === key || addresses.includes(address))
    .reduce((sum, { connections }) => sum + Number(connections), 0);
}
