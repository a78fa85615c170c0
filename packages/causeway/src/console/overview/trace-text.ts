import { judgePaths, type GatewayPath } from '../../health/gateway-health.ts';
import type { Verdict } from '../../health/state.ts';
import type { TraceAnswer } from '../../gateway/protocol/trace.ts';
import { withoutControls } from '@causeway/base/text/printable';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { AddressOwner } from './find-owner.ts';
import type { PathEndpoint } from './rows.ts';

/** One gateway's answer, and what its health makes of it. */
export interface GatewayTrace {
  readonly gateway: string;
  /** The path of the address family through the gateway, before its rules. */
  readonly path: GatewayPath;
  /** Undefined if the gateway does not answer. */
  readonly answer: TraceAnswer | undefined;
}

/** What the client gets from all gateways together: a gateway whose rules refuse the connection is not able. */
export function judgeTraces(traces: readonly GatewayTrace[]): Verdict {
  return judgePaths(
    traces.map(({ gateway, path, answer }): GatewayPath => {
      if (path.ability !== 'able' || answer === undefined || isForwarded(answer)) return path;
      const message = `${gateway}: ${answer.because}`;
      const remedy = 'The rules in the output show where the connection ends.';
      const cause = { code: 'rejected', message, since: undefined, remedy, gateway } as const;
      return { ...path, ability: 'unable', cause };
    }),
  );
}

function isForwarded({ outcome: ending }: TraceAnswer): boolean {
  return ending === 'forwarded' || ending === 'sent-unchanged';
}

/** Describes the Service of the address in a line or two. */
export function describeOwner(
  target: string,
  owner: AddressOwner | undefined,
  endpoints: readonly PathEndpoint[],
): string[] {
  if (owner === undefined) return [`No Service has ${target}.`];
  const { service, role, hasPort } = owner;
  const key = keyOf(service);
  if (!hasPort) {
    const ports = (service.spec?.ports ?? []).map(
      ({ port, protocol = 'TCP' }) => `${port}/${protocol}`,
    );
    return [`The address belongs to Service ${key}, which has other ports: ${ports.join(', ')}.`];
  }
  const lines = [`${target} is the ${role} address of Service ${key}.`];
  if (role !== 'load balancer') {
    lines.push('The proxy of each node serves it, and chooses at random among:');
    lines.push(...endpoints.map((each) => `  ${describeEndpoint(each)}`));
  }
  return lines;
}

function describeEndpoint({ address, ports, target, node, state }: PathEndpoint): string {
  const where = [target, node === '' ? '' : `on ${node}`].filter(Boolean).join(' ');
  return `${address} ${ports.join(', ')}${where === '' ? '' : ` (${where})`}, ${state}`;
}

/**
 * Describes how each gateway handles the connection. Gateways with the same result as the first are
 * shortened.
 */
export function describeTraces(
  traces: readonly GatewayTrace[],
  endpoints: readonly PathEndpoint[],
): string[] {
  const [first, ...others] = traces;
  if (first === undefined) return [];
  const text = JSON.stringify(first.answer);
  return [
    '',
    ...describeTrace(first, endpoints),
    ...others.flatMap((each) =>
      each.answer !== undefined &&
      each.path.cause === undefined &&
      JSON.stringify(each.answer) === text
        ? ['', `${each.gateway} (${roleOf(each)}): the same.`]
        : ['', ...describeTrace(each, endpoints)],
    ),
    ...describeVerdict(judgeTraces(traces)),
  ].map(withoutControls);
}

function describeVerdict({ state, causes }: Verdict): string[] {
  if (state === 'serving') return [];
  const heading =
    state === 'degraded' ? '! Clients get an answer, but:' : '✗ Clients get no answer:';
  const unsure = '✗ Whether clients get an answer is not known:';
  return [
    '',
    state === 'unknown' ? unsure : heading,
    ...causes.flatMap(({ message, remedy }) => [`  ${message}`, `    → ${remedy}`]),
  ];
}

function roleOf({ path: { role } }: GatewayTrace): string {
  return role === 'not-known' ? 'role not known' : role;
}

function describeTrace(trace: GatewayTrace, endpoints: readonly PathEndpoint[]): string[] {
  const { gateway, answer, path } = trace;
  if (answer === undefined) return [`${gateway}: ${path.cause?.message ?? 'no answer'}`];
  const lines = [`${gateway} (${roleOf(trace)}): ${outcome(answer, endpoints)}`];
  if (path.cause !== undefined) lines.push(`  ✗ ${path.cause.message}`);
  lines.push(`  ${answer.because}`);
  if (answer.others.length > 0) lines.push(`  It could also go to ${answer.others.join(', ')}.`);
  if (answer.unhealthy.length > 0) {
    lines.push(`  Left out, because they don't answer: ${answer.unhealthy.join(', ')}.`);
  }
  const width = Math.max(0, ...answer.steps.map(({ chain }) => chain.length));
  for (const { chain, rule } of answer.steps) lines.push(`    ${chain.padEnd(width)}  ${rule}`);
  return lines;
}

function outcome(answer: TraceAnswer, endpoints: readonly PathEndpoint[]): string {
  const { destination, servedAs, isSourceKept } = answer;
  const address = destination.slice(0, destination.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  const pod = endpoints.find((each) => each.address === address)?.target ?? '';
  const to = pod === '' ? destination : `${destination} (${pod})`;
  const source = isSourceKept ? 'which sees the client’s address' : 'which sees the gateway';
  switch (answer.outcome) {
    case 'forwarded':
      return `${servedAs} goes to ${to}, ${source}.`;
    case 'sent-unchanged':
      return `${servedAs} goes to the node ${to} as it is.`;
    case 'dropped':
      return `${servedAs} is dropped without an answer.`;
    case 'rejected':
      return `${servedAs} is refused.`;
    case 'not-served':
      return 'it is not served.';
  }
}
