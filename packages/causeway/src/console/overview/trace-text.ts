import type { Role } from '../../gateway/protocol/role.ts';
import type { TraceAnswer } from '../../gateway/protocol/trace.ts';
import { withoutControls } from '@causeway/base/text/printable';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { AddressOwner } from './find-owner.ts';
import type { PathEndpoint } from './rows.ts';

/** One gateway's answer, or the reason why there is none. */
export interface GatewayTrace {
  readonly gateway: string;
  readonly role: Role;
  readonly answer: TraceAnswer | undefined;
  readonly problem: string;
  /** The alarms that prevent the gateway from answering clients, whatever its rules do. */
  readonly outages: readonly string[];
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
      each.answer !== undefined && each.outages.length === 0 && JSON.stringify(each.answer) === text
        ? ['', `${each.gateway} (${each.role}): the same.`]
        : ['', ...describeTrace(each, endpoints)],
    ),
    ...(traces.some(canAnswer) ? [] : ['', '✗ No gateway can answer clients now.']),
  ].map(withoutControls);
}

function canAnswer({ answer, outages }: GatewayTrace): boolean {
  return answer !== undefined && outages.length === 0;
}

function describeTrace(trace: GatewayTrace, endpoints: readonly PathEndpoint[]): string[] {
  const { gateway, answer, problem } = trace;
  if (answer === undefined) return [`${gateway}: ${problem}`];
  const lines = [`${gateway} (${trace.role}): ${outcome(answer, endpoints)}`];
  lines.push(...trace.outages.map((alarm) => `  ✗ The gateway does not answer clients: ${alarm}`));
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
