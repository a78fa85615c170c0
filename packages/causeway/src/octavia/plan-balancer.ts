import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import { hasChanges, memberChanges } from '@causeway/openstack/load-balancing/member-changes';
import type {
  HealthMonitor,
  Listener,
  ListenerTimeouts,
  Member,
  Pool,
} from '@causeway/openstack/load-balancing/resources';
import type {
  HealthMonitorChange,
  ListenerChange,
  LoadBalancerChange,
  PoolChange,
} from '@causeway/openstack/load-balancing/specs';
import { ownPart, type SharedBalancer } from './shared-balancer.ts';
import { sameProvider } from './identity.ts';
import { timeoutChange } from './listener-timeouts.ts';
import type { ObservedBalancer } from './observed.ts';
import {
  forwardedFor,
  type WantedBalancer,
  type WantedListener,
  type WantedPool,
} from './desired.ts';

/** What is done about one object that should be there. `replaces` must go first. */
type ObjectPlan<Change> =
  | { readonly kind: 'keep'; readonly id: string }
  | { readonly kind: 'update'; readonly id: string; readonly change: Change }
  | { readonly kind: 'create'; readonly replaces: string | undefined };

type MonitorPlan =
  | ObjectPlan<HealthMonitorChange>
  | { readonly kind: 'delete'; readonly id: string };

export interface ListenerPlan {
  /** The description of what is made; undefined: none. */
  readonly mark: string | undefined;
  readonly wanted: WantedListener;
  readonly listener: ObjectPlan<ListenerChange>;
  readonly pool: ObjectPlan<PoolChange>;
  /** Whether the members differ, or are not known. */
  readonly setMembers: boolean;
  /** Members that can't be mended, only made anew. */
  readonly brokenMembers: readonly Member[];
  /** Undefined: none is wanted and none is there. */
  readonly monitor: MonitorPlan | undefined;
}

export interface ChangePlan {
  readonly balancer: LoadBalancerChange | undefined;
  readonly removeListeners: readonly string[];
  readonly removePools: readonly string[];
  readonly listeners: readonly ListenerPlan[];
}

export type Decision =
  | { readonly kind: 'create' }
  /** It is being made or deleted; nothing can be done until that is over. */
  | { readonly kind: 'wait'; readonly message: string }
  /** It can't be changed into what is wanted: delete it whole and start over. */
  | { readonly kind: 'replace'; readonly reason: EventReason; readonly message: string }
  | { readonly kind: 'refused'; readonly reason: EventReason; readonly message: string }
  | { readonly kind: 'change'; readonly plan: ChangePlan }
  | { readonly kind: 'same' };

export interface Marks {
  readonly description: string;
  readonly tags: readonly string[];
  /** The load balancer is somebody else's, or serves other Services too: only our own listeners count. */
  readonly isShared: boolean;
  /** Parts of listeners that the service has refused to change (501); they stay as they are. */
  readonly left?: ReadonlySet<string>;
  /** On a load balancer that another cluster may use too. */
  readonly sharedBalancer?: SharedBalancer;
  /** The timeouts that we have set before, by the ids of the listeners. */
  readonly timeoutsSet?: ReadonlyMap<string, ListenerTimeouts>;
}

/** Names a part of a listener in `left`. */
export function partName(part: 'listener' | 'pool' | 'members' | 'monitor', name: string): string {
  return `${part} of ${name}`;
}

/** Compares, and says what is to be done. Children are ours by their names, and nothing else is touched. */
export function planBalancer(
  wanted: WantedBalancer,
  observed: ObservedBalancer | undefined,
  marks: Marks,
): Decision {
  if (observed === undefined) return { kind: 'create' };
  const { provisioningStatus } = observed.balancer;
  if (provisioningStatus === 'PENDING_CREATE' || provisioningStatus === 'PENDING_DELETE') {
    const word = provisioningStatus === 'PENDING_CREATE' ? 'made' : 'deleted';
    return { kind: 'wait', message: `The load balancer is being ${word}` };
  }
  const replacement = marks.isShared ? undefined : whyReplace(wanted, observed);
  if (replacement !== undefined) return { kind: 'replace', ...replacement };
  if (marks.isShared && isInError(observed.balancer)) {
    const message = `The load balancer ${observed.balancer.id} is in ERROR and takes no changes. Others use it too, so it is not made anew: whoever made it must bring it back.`;
    return { kind: 'refused', reason: 'LoadBalancerInError', message };
  }
  const stranger = marks.isShared
    ? strangerOnPort(wanted, observed, marks.sharedBalancer)
    : undefined;
  if (stranger !== undefined) {
    const message = `Port ${stranger.port} of the shared load balancer is used by ${stranger.name || stranger.id}. Choose another port or another load balancer.`;
    return { kind: 'refused', reason: 'PortTaken', message };
  }
  const plan = planChildren(wanted, ownPart(observed, marks.sharedBalancer), marks);
  return isEmpty(plan) ? { kind: 'same' } : { kind: 'change', plan };
}

function whyReplace(
  wanted: WantedBalancer,
  { balancer }: ObservedBalancer,
): { reason: EventReason; message: string } | undefined {
  if (balancer.provisioningStatus === 'ERROR') {
    return {
      reason: 'KuryrEnsureLBError',
      message: `The load balancer ${balancer.id} is in ERROR; it is deleted and made anew.`,
    };
  }
  if (wanted.provider !== undefined && !sameProvider(wanted.provider, balancer.provider)) {
    return {
      reason: 'KuryrUpdateProvider',
      message: `Deleting the load balancer of the provider ${balancer.provider} to make one of ${wanted.provider}.`,
    };
  }
  if (wanted.address !== undefined && wanted.address !== balancer.vipAddress) {
    return {
      reason: 'KuryrUpdateAddress',
      message: `Deleting the load balancer at ${balancer.vipAddress} to make one at ${wanted.address}.`,
    };
  }
  return undefined;
}

function strangerOnPort(
  wanted: WantedBalancer,
  { listeners }: ObservedBalancer,
  sharedBalancer: SharedBalancer | undefined,
): Listener | undefined {
  const isStranger = (listener: Listener) =>
    sharedBalancer !== undefined && !sharedBalancer.isMine(listener);
  return listeners.find((listener) =>
    wanted.listeners.some(
      (mine) => isSamePort(mine, listener) && (mine.name !== listener.name || isStranger(listener)),
    ),
  );
}

function planChildren(
  wanted: WantedBalancer,
  observed: ObservedBalancer,
  marks: Marks,
): ChangePlan {
  const { balancer } = observed;
  const listeners = wanted.listeners.map((listener) =>
    leaving(planListener(listener, observed, marks), marks.left),
  );
  const kept = new Set(listeners.flatMap(({ listener }) => idsOf(listener)));
  const keptPools = new Set(listeners.flatMap(({ pool }) => idsOf(pool)));
  const isOurs = ({ name }: { name: string }) => name.startsWith(`${wanted.name}:`);
  const isMarked = marks.isShared || balancer.description === marks.description;
  const isTagged = marks.tags.every((tag) => balancer.tags.includes(tag));
  const change: LoadBalancerChange = {
    ...(isMarked ? {} : { description: marks.description }),
    ...(isTagged || marks.isShared
      ? {}
      : { tags: [...new Set([...balancer.tags, ...marks.tags])] }),
  };
  return {
    balancer: Object.keys(change).length === 0 ? undefined : change,
    removeListeners: observed.listeners.filter((own) => isOurs(own) && !kept.has(own.id)).map(idOf),
    removePools: observed.pools.filter((own) => isOurs(own) && !keptPools.has(own.id)).map(idOf),
    listeners,
  };
}

function planListener(
  wanted: WantedListener,
  observed: ObservedBalancer,
  marks: Marks,
): ListenerPlan {
  const mark = marks.sharedBalancer?.mark;
  const present = observed.listeners.find((listener) => isSamePort(wanted, listener));
  const pool = poolFor(wanted, present, observed);
  const listener = planOne(present, present?.protocol === wanted.protocol, (it) => ({
    ...listenerChange(wanted, it, pool, marks.timeoutsSet ?? new Map()),
    ...markChange(mark, it),
  }));
  // A new listener gets its pool with it; an old pool could not be told from one that is in use.
  const usable = listener.kind === 'create' ? undefined : pool;
  const poolPlan = planOne(usable, usable?.protocol === wanted.pool.protocol, (it) => ({
    ...poolChange(wanted.pool, it),
    ...markChange(mark, it),
  }));
  const replaced = poolPlan.kind === 'create' ? (usable?.id ?? pool?.id) : undefined;
  const members = poolPlan.kind === 'create' ? undefined : observed.members.get(poolPlan.id);
  const brokenMembers = (members ?? []).filter(isInError);
  return {
    mark,
    wanted,
    listener,
    pool: poolPlan.kind === 'create' ? { kind: 'create', replaces: replaced } : poolPlan,
    setMembers:
      members === undefined
        ? poolPlan.kind !== 'create' || wanted.pool.members.length > 0
        : brokenMembers.length > 0 ||
          hasChanges(memberChanges(members, wanted.pool.members, false)),
    brokenMembers,
    monitor: planMonitor(wanted.pool, poolPlan, observed),
  };
}

/** The plan without what was refused before: to ask again would change nothing. */
function leaving(plan: ListenerPlan, left: ReadonlySet<string> = new Set()): ListenerPlan {
  const { wanted, listener, pool, monitor } = plan;
  const isLeft = (part: Parameters<typeof partName>[0]) => left.has(partName(part, wanted.name));
  const kept = <Change>(object: ObjectPlan<Change>): ObjectPlan<Change> =>
    object.kind === 'update' ? { kind: 'keep', id: object.id } : object;
  return {
    ...plan,
    listener: isLeft('listener') ? kept(listener) : listener,
    pool: isLeft('pool') ? kept(pool) : pool,
    setMembers: plan.setMembers && !isLeft('members'),
    monitor: isLeft('monitor') ? undefined : monitor,
  };
}

function markChange(mark: string | undefined, present: { readonly description: string }) {
  return mark === undefined || mark === present.description ? {} : { description: mark };
}

function planMonitor(
  wanted: WantedPool,
  pool: ObjectPlan<PoolChange>,
  observed: ObservedBalancer,
): MonitorPlan | undefined {
  const present =
    pool.kind === 'create' ? undefined : observed.monitors.find(({ poolId }) => poolId === pool.id);
  const { monitor } = wanted;
  if (monitor === undefined) {
    // One under another name was put there by somebody else, who may need it.
    return present?.name === wanted.name ? { kind: 'delete', id: present.id } : undefined;
  }
  return planOne(present, present?.type === monitor.type, (it) => monitorChange(monitor, it));
}

function planOne<T extends { id: string; provisioningStatus: string }, Change extends object>(
  present: T | undefined,
  isChangeable: boolean,
  changeOf: (present: T) => Change,
): ObjectPlan<Change> {
  if (present === undefined) return { kind: 'create', replaces: undefined };
  if (isInError(present) || !isChangeable) return { kind: 'create', replaces: present.id };
  const change = changeOf(present);
  if (Object.keys(change).length === 0) return { kind: 'keep', id: present.id };
  return { kind: 'update', id: present.id, change };
}

function poolFor(
  wanted: WantedListener,
  present: Listener | undefined,
  { pools }: ObservedBalancer,
): Pool | undefined {
  return (
    pools.find(({ id }) => id === present?.defaultPoolId) ??
    pools.find(({ name }) => name === wanted.pool.name)
  );
}

function listenerChange(
  wanted: WantedListener,
  present: Listener,
  pool: Pool | undefined,
  set: ReadonlyMap<string, ListenerTimeouts>,
): ListenerChange {
  const { name, settings } = wanted;
  const { connectionLimit = -1, timeouts = {}, allowedCidrs, tlsContainerRef } = settings;
  const timing = timeoutChange(timeouts, present.timeouts, set.get(present.id) ?? {});
  const headers = headerChange(wanted, present);
  return {
    ...(name === present.name ? {} : { name }),
    ...(connectionLimit === (present.connectionLimit ?? -1) ? {} : { connectionLimit }),
    ...(timing === undefined ? {} : { timeouts: timing }),
    ...(allowedCidrs === undefined || sameSet(allowedCidrs ?? [], present.allowedCidrs ?? [])
      ? {}
      : { allowedCidrs }),
    ...(headers === undefined ? {} : { insertHeaders: headers }),
    ...(tlsContainerRef === undefined || tlsContainerRef === present.tlsContainerRef
      ? {}
      : { tlsContainerRef }),
    ...(pool !== undefined && present.defaultPoolId === undefined
      ? { defaultPoolId: pool.id }
      : {}),
  };
}

/** Headers that others want stay; the one that we know of goes with who asked for it. */
function headerChange(
  { settings: { insertHeaders } }: WantedListener,
  { insertHeaders: present }: Listener,
): Readonly<Record<string, string>> | undefined {
  if (insertHeaders !== undefined) {
    return sameMap(insertHeaders, present) ? undefined : { ...present, ...insertHeaders };
  }
  const { [forwardedFor]: ours, ...others } = present;
  return ours === 'true' ? others : undefined;
}

function poolChange({ name, algorithm, persistence }: WantedPool, present: Pool): PoolChange {
  return {
    ...(name === present.name ? {} : { name }),
    ...(algorithm === present.algorithm ? {} : { algorithm }),
    ...((persistence?.type ?? undefined) === present.sessionPersistence?.type
      ? {}
      : { sessionPersistence: persistence }),
  };
}

const monitorFields = [
  'name',
  'delay',
  'timeout',
  'maxRetries',
  'maxRetriesDown',
  'urlPath',
] as const;

function monitorChange(
  wanted: NonNullable<WantedPool['monitor']>,
  present: HealthMonitor,
): HealthMonitorChange {
  const changed = monitorFields.filter(
    (field) => wanted[field] !== undefined && wanted[field] !== present[field],
  );
  return Object.fromEntries(changed.map((field) => [field, wanted[field]]));
}

function isEmpty({ balancer, removeListeners, removePools, listeners }: ChangePlan): boolean {
  return (
    balancer === undefined &&
    removeListeners.length + removePools.length === 0 &&
    listeners.every(
      ({ listener, pool, setMembers, monitor }) =>
        listener.kind === 'keep' &&
        pool.kind === 'keep' &&
        !setMembers &&
        (monitor === undefined || monitor.kind === 'keep'),
    )
  );
}

/** Whether a plan changes nothing but members: those are compared again by the write itself. */
export function isMembersOnly(plan: ChangePlan): boolean {
  return isEmpty({
    ...plan,
    listeners: plan.listeners.map((listener) => ({
      ...listener,
      setMembers: listener.brokenMembers.length > 0,
    })),
  });
}

/** A port of a load balancer can be used once for each of TCP, UDP and SCTP; HTTP is over TCP. */
function isSamePort(wanted: WantedListener, present: Listener): boolean {
  return wanted.port === present.port && transport(wanted.protocol) === transport(present.protocol);
}

function transport(protocol: string): string {
  return protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP';
}

function isInError({ provisioningStatus }: { readonly provisioningStatus: string }): boolean {
  return provisioningStatus === 'ERROR';
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

/** What the plan keeps or deals with itself. */
function idsOf(plan: ObjectPlan<object>): string[] {
  if (plan.kind !== 'create') return [plan.id];
  return plan.replaces === undefined ? [] : [plan.replaces];
}

function sameSet(left: readonly string[], right: readonly string[]): boolean {
  return [...left].sort().join() === [...right].sort().join();
}

function sameMap(
  wanted: Readonly<Record<string, string>>,
  present: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => present[key] === value);
}
