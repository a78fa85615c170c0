import type { Member } from './resources.ts';
import type { MemberSpec } from './specs.ts';

export interface MemberChanges {
  readonly added: readonly MemberSpec[];
  readonly changed: readonly { readonly id: string; readonly spec: MemberSpec }[];
  readonly removed: readonly Member[];
}

/**
 * The changes that turn a pool's members into the wanted ones. Address and port identify a member. Only the
 * fields of the spec are compared, because the service fills in the rest. A member that is being deleted does
 * not count.
 */
export function memberChanges(
  current: readonly Member[],
  wanted: readonly MemberSpec[],
  keepOthers: boolean,
): MemberChanges {
  const staying = current.filter(isStaying);
  const present = new Map(staying.map((member) => [keyOf(member), member]));
  const wantedKeys = new Set(wanted.map(keyOf));
  const changed: { id: string; spec: MemberSpec }[] = [];
  const added: MemberSpec[] = [];
  for (const spec of new Map(wanted.map((entry) => [keyOf(entry), entry])).values()) {
    const member = present.get(keyOf(spec));
    if (member === undefined) added.push(spec);
    else if (differs(member, spec)) changed.push({ id: member.id, spec });
  }
  const removed = keepOthers ? [] : staying.filter((member) => !wantedKeys.has(keyOf(member)));
  return { added, changed, removed };
}

export function isStaying({ provisioningStatus }: Member): boolean {
  return provisioningStatus !== 'PENDING_DELETE' && provisioningStatus !== 'DELETED';
}

export function hasChanges(changes: MemberChanges): boolean {
  return changes.added.length + changes.changed.length + changes.removed.length > 0;
}

function keyOf(member: Pick<MemberSpec, 'address' | 'port'>): string {
  return `${member.address} ${member.port}`;
}

function differs(member: Member, spec: MemberSpec): boolean {
  return (
    isOther(spec.name, member.name) ||
    isOther(spec.weight, member.weight) ||
    isOther(spec.adminStateUp, member.adminStateUp) ||
    isOther(spec.backup, member.backup) ||
    isOther(spec.monitorAddress, member.monitorAddress ?? null) ||
    isOther(spec.monitorPort, member.monitorPort ?? null) ||
    (spec.tags !== undefined && [...spec.tags].sort().join() !== [...member.tags].sort().join())
  );
}

function isOther<T>(wanted: T | undefined, present: T): boolean {
  return wanted !== undefined && wanted !== present;
}
