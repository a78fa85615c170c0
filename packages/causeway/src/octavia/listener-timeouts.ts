import type { ListenerTimeouts } from '@causeway/openstack/load-balancing/resources';
import type { ListenerChange } from '@causeway/openstack/load-balancing/specs';
import {
  statusVersion,
  type KlbSpec,
  type KlbStatusListener,
  type KuryrLoadBalancer,
} from './kuryr-load-balancer.ts';

/** The service's names of the timeouts, and those that a KuryrLoadBalancer has for them. */
const names = {
  clientData: 'timeout_client_data',
  memberConnect: 'timeout_member_connect',
  memberData: 'timeout_member_data',
  tcpInspect: 'timeout_tcp_inspect',
} as const satisfies Record<keyof ListenerTimeouts, keyof KlbStatusListener>;

type Name = keyof typeof names;
type AskedTimeouts = Pick<KlbStatusListener, (typeof names)[Name]>;

/** The timeouts that a spec asks for, wherever in it they are. */
export function askedTimeouts({ options = {}, ...spec }: KlbSpec): AskedTimeouts {
  return pickDefined({ ...options, ...spec }, Object.values(names));
}

export function timeoutsFrom(asked: AskedTimeouts): ListenerTimeouts {
  const known = entries.flatMap(([name, key]) => {
    const value = asked[key];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known);
}

/**
 * What we have set on listeners before, by their ids: what is not asked for any more is given back to the
 * service's default. Kuryr's status has its configuration there, which nobody takes away by moving.
 */
export function timeoutsSet({ status }: KuryrLoadBalancer): ReadonlyMap<string, ListenerTimeouts> {
  if (status?.version !== statusVersion) return new Map();
  return new Map((status.listeners ?? []).map((listener) => [listener.id, timeoutsFrom(listener)]));
}

/** After they were given back: where the default is what was set, that can't be seen. */
export function withoutTimeoutsSet(klb: KuryrLoadBalancer): KuryrLoadBalancer {
  if (klb.status?.listeners === undefined) return klb;
  const listeners = klb.status.listeners.map(
    ({ id, name, loadbalancer_id, port, project_id, protocol }) => ({
      id,
      name,
      loadbalancer_id,
      port,
      project_id,
      protocol,
    }),
  );
  return { ...klb, status: { ...klb.status, listeners } };
}

/** Undefined: as wanted. */
export function timeoutChange(
  wanted: ListenerTimeouts,
  present: ListenerTimeouts,
  set: ListenerTimeouts,
): ListenerChange['timeouts'] {
  const different = entries.filter(
    ([name]) => wanted[name] !== undefined && wanted[name] !== present[name],
  );
  const takenAway = entries.filter(
    ([name]) =>
      wanted[name] === undefined && set[name] !== undefined && set[name] === present[name],
  );
  if (different.length + takenAway.length === 0) return undefined;
  return { ...wanted, ...Object.fromEntries(takenAway.map(([name]) => [name, null])) };
}

const entries = Object.entries(names) as [Name, (typeof names)[Name]][];

function pickDefined<T extends object, K extends keyof T>(
  from: T,
  keys: readonly K[],
): Partial<Pick<T, K>> {
  const present = keys.flatMap((key) =>
    from[key] === undefined ? [] : [[key, from[key]] as const],
  );
  return Object.fromEntries(present) as Partial<Pick<T, K>>;
}
