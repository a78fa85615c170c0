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

/** The plan for one wanted object. `replaces` must be deleted first. */
type ObjectPlan<Change> =
  | { readonly kind: 'keep'; readonly id: string }
  | { readonly kind: 'update'; readonly id: string; readonly change: Change }
  | { readonly kind: 'create'; readonly replaces: string | undefined };

type MonitorPlan =
  | ObjectPlan<HealthMonitorChange>
  | { readonly kind: 'delete'; readonly id: string };

export interface ListenerPlan {
  /** The description of created objects; undefined: none. */
  readonly mark: string | undefined;
  readonly wanted: WantedListener;
  readonly listener: ObjectPlan<ListenerChange>;
  readonly pool: ObjectPlan<PoolChange>;
  /** Whether the members differ or are unknown. */
  readonly setMembers: boolean;
  /** Members that can't be repaired, only recreated. */
  readonly brokenMembers: readonly Member[];
  /** Undefined: no monitor is wanted and none exists. */
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
  /** The load balancer is being created or deleted. Nothing can be done before the end. */
  | { readonly kind: 'wait'; readonly message: string }
  /** The load balancer can't be changed as wanted: delete it and start over. */
  | { readonly kind: 'replace'; readonly reason: EventReason; readonly message: string }
  | { readonly kind: 'refused'; readonly reason: EventReason; readonly message: string }
  | { readonly kind: 'change'; readonly plan: ChangePlan }
  | { readonly kind: 'same' };

export interface Marks {
  readonly description: string;
  readonly tags: readonly string[];
  /** The load balancer belongs to another owner, or serves other Services too: only own listeners count. */
  readonly isShared: boolean;
  /** Parts of listeners that Octavia refused to change (501). They stay unchanged. */
  readonly left?: ReadonlySet<string>;
  /** Set for a load balancer that another cluster may also use. */
  readonly sharedBalancer?: SharedBalancer;
  /** The timeouts that the controller has set before, by listener ID. */
  readonly timeoutsSet?: ReadonlyMap<string, ListenerTimeouts>;
}

/** The name of a part of a listener in `left`. */
export function partName(part: 'listener' | 'pool' | 'members' | 'monitor', name: string): string {
  return `${part} of ${name}`;
}

/** Compares and plans the changes. Children belong to the Service by name. Other children stay unchanged. */
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
    const message = `The load balancer ${observed.balancer.id} is in ERROR and accepts no changes. Other Services or clusters use the load balancer too, so the controller does not replace it. The owner of the load balancer must repair it.`;
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
      message: `The load balancer ${balancer.id} is in ERROR; the controller deletes it and creates another one.`,
    };
  }
  if (wanted.provider !== undefined && !sameProvider(wanted.provider, balancer.provider)) {
    return {
      reason: 'KuryrUpdateProvider',
      message: `The controller replaces the load balancer of the provider ${balancer.provider} by one of ${wanted.provider}.`,
    };
  }
  if (wanted.address !== undefined && wanted.address !== balancer.vipAddress) {
    return {
      reason: 'KuryrUpdateAddress',
      message: `The controller replaces the load balancer at ${balancer.vipAddress} by one at ${wanted.address}.`,
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
  // A new listener is created with its pool. An old pool could not be distinguished from one in use.
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

/** The plan without the parts that were refused before: another attempt would change nothing. */
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
    // A monitor with another name was created by another program, which may need it.
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

/** Foreign headers stay. Causeway's own header is removed when it is no longer requested. */
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

/** Whether a plan changes only members: the write itself compares them again. */
export function isMembersOnly(plan: ChangePlan): boolean {
  return isEmpty({
    ...plan,
    listeners: plan.listeners.map((listener) => ({
      ...listener,
      setMembers: listener.brokenMembers.length > 0,
    })),
  });
}

/** A port of a load balancer can be used once for each of TCP, UDP and SCTP. HTTP uses TCP. */
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

/** The IDs that the plan keeps or handles. */
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
