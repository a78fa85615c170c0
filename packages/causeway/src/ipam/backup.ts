import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { keys, partsOfKey, stateRoot } from './keys.ts';
import type { Entry, Ledger, Write } from './ledger.ts';
import { clusterRecordSchema, siteRecordSchema, type SiteRecord } from './records.ts';
import { View } from './view.ts';

const format = 'causeway-ipam/1';

/** Everything but the audit log, as of one revision. It holds hashes of credentials: keep it private. */
export const backupSchema = z.looseObject({
  format: z.literal(format),
  at: z.number(),
  revision: z.number(),
  entries: z.array(z.looseObject({ key: z.string().startsWith(stateRoot), value: z.unknown() })),
});
export type Backup = z.infer<typeof backupSchema>;

export async function takeBackup(
  ledger: Ledger,
  now: number,
  signal: AbortSignal,
): Promise<Backup> {
  const { revision, entries } = await ledger.load(stateRoot, signal);
  return {
    format,
    at: now,
    revision,
    entries: entries
      .filter(({ key }) => key !== keys.identity())
      .map(({ key, value }) => ({ key, value: JSON.parse(value) as unknown })),
  };
}

/**
 * `restore`: the backup may be older than what is in use. Sites come up recovering, and fences start far
 * above any that was given out since. `move`: nothing happened since, because the source was stopped.
 */
export type RestoreMode = 'restore' | 'move';

const fenceGap = 1_000_000;
const batchSize = 100;

/** Fills an empty ledger. The sites come last: until they are there, nobody is given anything. */
export async function restoreBackup(
  ledger: Ledger,
  backup: Backup,
  mode: RestoreMode,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  await refuseFilled(ledger, signal);
  // What was promised with heartbeats from before says nothing of who was heard since.
  const isOld = (key: string) => mode === 'restore' && partsOfKey(key).kind === 'beat';
  const entries = backup.entries.filter(({ key }) => !isOld(key));
  const writes = readable(() =>
    entries.map(({ key, value }) => {
      return { key, value: JSON.stringify(restored(key, value, mode, now)) ?? '' };
    }),
  );
  const isSite = ({ key }: Write) => partsOfKey(key).kind === 'site';
  const ordered = [...writes.filter((write) => !isSite(write)), ...writes.filter(isSite)];
  for (let index = 0; index < ordered.length; index += batchSize) {
    await ledger.commit(
      { conditions: [], writes: ordered.slice(index, index + batchSize) },
      signal,
    );
  }
  return ordered.length;
}

/** Nothing is written of a backup that no server could load afterwards. */
function readable<T extends Omit<Entry, 'revision'>>(read: () => T[]): T[] {
  try {
    const writes = read();
    new View().fill(writes.map((write) => ({ ...write, revision: 1 })));
    return writes;
  } catch (error) {
    const { message } = CausewayError.from(error);
    throw new CausewayError('invalid', `the backup is damaged: ${message.slice(0, 500)}`, {
      cause: error,
      hint: 'Nothing was restored. A newer version may have written it.',
    });
  }
}

async function refuseFilled(ledger: Ledger, signal: AbortSignal): Promise<void> {
  const present = await ledger.load(stateRoot, signal);
  if (present.entries.every(({ key }) => partsOfKey(key).kind !== 'site')) return;
  throw new CausewayError('conflict', 'the ledger is not empty', {
    hint: 'A backup is restored into a new file, or under a new root in etcd.',
  });
}

/** Copies a ledger into an empty one and closes the old one. Answers how many keys there are. */
export async function moveLedger(
  source: Ledger,
  target: Ledger,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  // A target that can't be had is no reason to close the source.
  await refuseFilled(target, signal);
  // First closed, then copied: what is copied is all there ever was.
  await suspendAll(source, 'moved', now, signal);
  return restoreBackup(target, await takeBackup(source, now, signal), 'move', now, signal);
}

function restored(key: string, value: unknown, mode: RestoreMode, now: number): unknown {
  const { kind } = partsOfKey(key);
  if (kind === 'site') {
    const { suspended, ...site } = siteRecordSchema.parse(value);
    // What recovered before it was moved has not heard of everybody yet.
    const since = mode === 'restore' ? now : recoveringSince(suspended);
    return since === undefined ? site : { ...site, suspended: { as: 'recovering', since } };
  }
  if (kind === 'cluster' && mode === 'restore') {
    const cluster = clusterRecordSchema.parse(value);
    return { ...cluster, sequence: cluster.sequence + fenceGap };
  }
  return value;
}

function recoveringSince(suspended: SiteRecord['suspended']): number | undefined {
  return suspended?.as === 'recovering' ? suspended.since : suspended?.recoveringSince;
}

/**
 * Refuses a store that is not the one the ledger was written to: an etcd that was restored from a
 * snapshot knows nothing of what was given out since, and would give it out again.
 */
export async function refuseRestoredStore(ledger: Ledger, signal: AbortSignal): Promise<void> {
  const { entries } = await ledger.load(keys.identity(), signal);
  const [known] = entries;
  if (known === undefined) {
    await adopt(ledger, signal);
    return;
  }
  const identity = await ledger.identity(signal);
  if ((JSON.parse(known.value) as { identity?: string }).identity === identity) return;
  throw new CausewayError('conflict', 'the ledger was written to another store than this one', {
    hint: 'If it was restored from a snapshot, run "causeway ipam recover" first.',
  });
}

async function adopt(ledger: Ledger, signal: AbortSignal): Promise<void> {
  const value = JSON.stringify({ identity: await ledger.identity(signal) });
  await ledger.commit({ conditions: [], writes: [{ key: keys.identity(), value }] }, signal);
}

/** Marks every site of a ledger: `recovering` after its store was put back, `moved` before it is copied. */
export async function suspendAll(
  ledger: Ledger,
  as: 'moved' | 'recovering',
  now: number,
  signal: AbortSignal,
): Promise<string[]> {
  const { entries } = await ledger.load(stateRoot, signal);
  const names: string[] = [];
  for (const { key, value, revision } of entries) {
    const { kind, site } = partsOfKey(key);
    const record = kind === 'site' ? siteRecordSchema.parse(JSON.parse(value)) : undefined;
    const marked =
      record === undefined
        ? as === 'recovering' && kind === 'cluster'
          ? restored(key, JSON.parse(value), 'restore', now)
          : undefined
        : { ...record, suspended: suspension(as, record, now) };
    const isOldBeat = as === 'recovering' && kind === 'beat';
    if (marked === undefined && !isOldBeat) continue;
    const writes = [{ key, value: isOldBeat ? undefined : JSON.stringify(marked) }];
    const { applied } = await ledger.commit({ conditions: [{ key, revision }], writes }, signal);
    if (!applied)
      throw new CausewayError('conflict', `${key} was changed meanwhile: stop the servers`);
    if (record !== undefined) names.push(site);
  }
  if (as === 'recovering') await adopt(ledger, signal);
  return names;
}

function suspension(
  as: 'moved' | 'recovering',
  { suspended }: SiteRecord,
  now: number,
): SiteRecord['suspended'] {
  if (as === 'recovering') return { as, since: now };
  return { as, since: now, recoveringSince: recoveringSince(suspended) };
}
