import { isObject } from '../http/call.ts';
import { unsupportedOption } from './refusals.ts';

/**
 * Rejections of the provider `ovn`, with the messages of its driver. Everything else is equal to the amphora
 * provider. The provider accepts and ignores weights, timeouts and connection limits.
 */

type Values = Readonly<Record<string, unknown>>;

const protocols: readonly string[] = ['TCP', 'UDP', 'SCTP'];
const monitorTypes: readonly string[] = ['TCP', 'UDP-CONNECT'];

export function checkOvnLoadBalancer(provider: string, values: Values): void {
  if (provider !== 'ovn') return;
  if (textOf(values, 'flavor_id') !== undefined) refuse('flavors.');
  if (textOf(values, 'availability_zone') !== undefined) refuse('availability zones.');
}

export function checkOvnListener(provider: string, values: Values): void {
  if (provider !== 'ovn') return;
  requireOneOf(protocols, textOf(values, 'protocol'), 'protocol');
  const cidrs = values['allowed_cidrs'];
  if (Array.isArray(cidrs) && cidrs.length > 0) refuse('allowed_cidrs option');
}

export function checkOvnPool(provider: string, values: Values): void {
  if (provider !== 'ovn') return;
  requireOneOf(protocols, textOf(values, 'protocol'), 'protocol');
  requireOneOf(['SOURCE_IP_PORT'], textOf(values, 'lb_algorithm'), 'algorithm');
  const persistence = values['session_persistence'];
  if (!isObject(persistence)) return;
  const rest = 'session persistence. Only SOURCE_IP type is supported.';
  requireOneOf(['SOURCE_IP'], textOf({ ...persistence }, 'type'), rest);
}

export function checkOvnMonitor(provider: string, values: Values): void {
  if (provider !== 'ovn') return;
  requireOneOf(monitorTypes, textOf(values, 'type'), 'health monitor');
}

export function checkOvnMember(provider: string, values: Values): void {
  if (provider !== 'ovn') return;
  const { monitor_address: address, monitor_port: port } = values;
  if ((address ?? port ?? undefined) === undefined) return;
  const message = 'OVN Load Balancer does not support different member monitor address or port.';
  throw unsupportedOption('ovn', message);
}

function textOf(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

function requireOneOf(allowed: readonly string[], value: string | undefined, what: string): void {
  if (value !== undefined && !allowed.includes(value)) refuse(`${value} ${what}`);
}

function refuse(what: string): never {
  throw unsupportedOption('ovn', `OVN provider does not support ${what}`);
}
