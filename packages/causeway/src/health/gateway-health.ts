import type { Family } from '@causeway/base/address/address';
import { isCutOff, isOutage } from '../gateway/protocol/alarm.ts';
import type { GatewayFacts, ServiceProblems } from './facts.ts';
import { rankCauses, type Cause, type CauseCode, type Verdict } from './state.ts';

/** Older facts count as unknown. The controller writes them every 10 s at least. */
export const staleAfterMs = 30_000;

/** A change that a gateway has not confirmed for this long is a problem. */
const unconfirmedAfterMs = 5_000;

/** Whether a change has waited too long for its confirmation. */
export function isLate(since: number | undefined, now: number): boolean {
  return since === undefined || now - since > unconfirmedAfterMs;
}

/**
 * What happens to a packet that reaches a gateway:
 *
 * - `able`: the gateway forwards it
 * - `unable`: the gateway does not forward it
 * - `unknown`: the facts are old, or the agent does not answer; the rules work without the agent
 */
export type Ability = 'able' | 'unable' | 'unknown';

/** The path of one address family through one gateway. */
export interface GatewayPath {
  readonly gateway: string;
  /** With `foreign`, another system decides which gateways receive packets. */
  readonly role: 'active' | 'standby' | 'unable' | 'foreign' | 'not-known';
  readonly ability: Ability;
  /** Why the gateway is not able. */
  readonly cause: Cause | undefined;
}

const listGateways = '`causeway gateways list` shows the problems of each gateway.';
const noGateway: Cause = {
  code: 'no-gateway',
  message: 'No gateway is known to the controller.',
  since: undefined,
  remedy: 'List the gateways in the settings of the controller (gateway.agents).',
};

export function gatewayPath(gateway: GatewayFacts, family: Family, now: number): GatewayPath {
  const { name } = gateway;
  const staleCause = stale(gateway, now);
  if (staleCause !== undefined) return path(name, 'not-known', 'unknown', staleCause);
  // An agent that reports a role and rejects updates still serves what it has.
  if (!gateway.reachable && gateway.role === undefined) {
    const message = `The agent of ${name} does not answer: ${gateway.failure ?? 'no reason is known'}`;
    const remedy = `Start the agent on ${name}, or see its log.`;
    const since = gateway.failedSince;
    const cause: Cause = { code: 'gateways-not-answering', message, since, remedy, gateway: name };
    return path(name, 'not-known', 'unknown', cause);
  }
  const role = roleOf(gateway);
  const cause = whyUnable(gateway, family);
  return path(name, role, cause === undefined ? 'able' : 'unable', cause);
}

/** The cause if the facts about the gateway are too old to use. */
export function stale({ name, observedAt }: GatewayFacts, now: number): Cause | undefined {
  if (observedAt !== undefined && now - observedAt <= staleAfterMs) return undefined;
  return {
    code: 'facts-stale',
    message: `The facts about ${name} are not current: the controller has not written them.`,
    since: observedAt,
    remedy: 'Check that the controller runs and may write the ConfigMap causeway-gateways.',
    gateway: name,
  };
}

function whyUnable(gateway: GatewayFacts, family: Family): Cause | undefined {
  const { name, alarms, isFenced, role } = gateway;
  const cause = (code: CauseCode, message: string): Cause => ({
    code,
    message,
    since: undefined,
    remedy: listGateways,
    gateway: name,
    family,
  });
  const outage = alarms.find(isOutage);
  if (outage !== undefined) return cause('no-able-gateway', `${name} can't serve: ${outage}`);
  if (isFenced) return cause('no-able-gateway', `${name} is fenced.`);
  if (role === 'unable') return cause('no-able-gateway', `${name} is unable to become active.`);
  const cutOff = alarms.find((alarm) => isCutOff(alarm) && alarm.includes(`IPv${family}`));
  return cutOff === undefined
    ? undefined
    : cause('cut-off', `${name} reaches no backend: ${cutOff}`);
}

function roleOf({ role }: GatewayFacts): GatewayPath['role'] {
  return role === undefined || role === 'unknown' ? 'not-known' : role;
}

function path(
  gateway: string,
  role: GatewayPath['role'],
  ability: Ability,
  cause: Cause | undefined,
): GatewayPath {
  return { gateway, role, ability, cause };
}

/** One gateway in an overview. */
export interface GatewayHealth {
  readonly name: string;
  readonly role: GatewayPath['role'];
  /** The worst of both address families. */
  readonly ability: Ability;
  /** Whether an operator should act. */
  readonly isProblem: boolean;
  /** All problems, the most important one first. */
  readonly problems: readonly string[];
  readonly since: number | undefined;
}

/** The health of one gateway, independent of Services. */
export function gatewayHealth(gateway: GatewayFacts, now: number): GatewayHealth {
  const paths = ([4, 6] as const).map((family) => gatewayPath(gateway, family, now));
  const worst = paths.find(({ ability }) => ability !== 'able') ?? paths[0];
  const { unconfirmed, rejected } = gateway;
  const problems = [
    ...(worst?.cause === undefined ? [] : [worst.cause.message]),
    ...(rejected.total === 0 ? [] : [`rejects ${rejected.total} Services`]),
    ...describeUnconfirmed(unconfirmed, now),
    ...(gateway.failure === undefined ? [] : [gateway.failure]),
    ...gateway.alarms,
  ];
  return {
    name: gateway.name,
    role: worst?.role ?? 'not-known',
    ability: worst?.ability ?? 'unknown',
    isProblem: problems.length > 0,
    problems: problems.filter(
      (text, at) => !problems.slice(0, at).some((one) => one.includes(text)),
    ),
    since: worst?.cause?.since,
  };
}

function describeUnconfirmed({ total, listed }: ServiceProblems, now: number): readonly string[] {
  const [first] = listed.values();
  if (total === 0 || !isLate(first?.since, now)) return [];
  return [`has not confirmed the last changes of ${total} Services`];
}

/** What clients of an address family get from these paths together. */
export function judgePaths(paths: readonly GatewayPath[]): Verdict {
  if (paths.length === 0) return { state: 'not-served', causes: [noGateway] };
  const active = paths.filter(({ role }) => role === 'active' || role === 'foreign');
  return active.length > 0 ? judgeActive(active, paths) : judgeWithoutActive(paths);
}

function judgeActive(active: readonly GatewayPath[], paths: readonly GatewayPath[]): Verdict {
  const able = active.filter(({ ability }) => ability === 'able');
  if (able.length === 0) return { state: 'not-served', causes: causesOf(active) };
  if (able.length < active.length) return { state: 'degraded', causes: causesOf(active) };
  const others = paths.filter((each) => !active.includes(each));
  const isAlone = others.length > 0 && !others.some(({ ability }) => ability === 'able');
  if (!isAlone) return { state: 'serving', causes: [] };
  const names = able.map(({ gateway }) => gateway).join(', ');
  const lost: Cause = {
    code: 'no-redundancy',
    message: `No other gateway can take over from ${names}: ${others.map(describe).join('; ')}`,
    since: newestOf(causesOf(others)),
    remedy: `Repair the standby gateways. ${listGateways}`,
  };
  return { state: 'degraded', causes: [lost] };
}

function judgeWithoutActive(paths: readonly GatewayPath[]): Verdict {
  const unable = paths.filter(({ ability }) => ability === 'unable');
  if (unable.length === paths.length) return { state: 'not-served', causes: causesOf(paths) };
  const unknown = paths.filter(({ ability }) => ability === 'unknown');
  const unreported = paths.filter(
    ({ ability, role }) => ability === 'able' && role === 'not-known',
  );
  if (unreported.length > 0) {
    const names = unreported.map(({ gateway }) => gateway).join(', ');
    const message = `No gateway reports that it is active; ${names} can serve and does not report a role.`;
    const remedy = 'Agents of ch-k8s-lbaas report no role: replace them with agents of Causeway.';
    const cause: Cause = { code: 'role-not-reported', message, since: undefined, remedy };
    return { state: 'degraded', causes: [cause] };
  }
  if (unknown.length > 0) return { state: 'unknown', causes: causesOf(unknown) };
  const message = `No gateway is active: ${paths.map(describe).join('; ')}`;
  const cause: Cause = {
    code: 'no-active-gateway',
    message,
    since: undefined,
    remedy: listGateways,
  };
  return { state: 'not-served', causes: rankCauses([cause, ...causesOf(paths)]) };
}

function causesOf(paths: readonly GatewayPath[]): readonly Cause[] {
  return rankCauses(paths.flatMap(({ cause }) => cause ?? []));
}

function describe({ gateway, role, cause }: GatewayPath): string {
  return cause?.message ?? `${gateway} is ${role === 'not-known' ? 'in an unknown role' : role}`;
}

function newestOf(causes: readonly Cause[]): number | undefined {
  const times = causes.flatMap(({ since }) => since ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
