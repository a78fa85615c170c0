import type { ListenerTimeouts } from '@causeway/openstack/load-balancing/resources';
import type { ListenerChange } from '@causeway/openstack/load-balancing/specs';
import {
  statusVersion,
  type KlbSpec,
  type KlbStatusListener,
  type KuryrLoadBalancer,
} from './kuryr-load-balancer.ts';

/** Octavia's names of the timeouts, and those of a KuryrLoadBalancer. */
const names = {
  clientData: 'timeout_client_data',
  memberConnect: 'timeout_member_connect',
  memberData: 'timeout_member_data',
  tcpInspect: 'timeout_tcp_inspect',
} as const satisfies Record<keyof ListenerTimeouts, keyof KlbStatusListener>;

type Name = keyof typeof names;
type AskedTimeouts = Pick<KlbStatusListener, (typeof names)[Name]>;

/** The timeouts that a spec requests, at any place of the spec. */
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
 * The timeouts that the controller has set before, by listener ID. A timeout that is no longer requested is
 * reset to Octavia's default. Kuryr's status has Kuryr's configuration there, which is not reset after a
 * migration.
 */
export function timeoutsSet({ status }: KuryrLoadBalancer): ReadonlyMap<string, ListenerTimeouts> {
  if (status?.version !== statusVersion) return new Map();
  return new Map((status.listeners ?? []).map((listener) => [listener.id, timeoutsFrom(listener)]));
}

/** The object after the reset. A default that equals the former value is not visible as a change. */
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

/** Undefined: no change. */
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
