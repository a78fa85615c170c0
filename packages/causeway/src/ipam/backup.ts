import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { keys, partsOfKey, stateRoot } from './keys.ts';
import type { Entry, Ledger, Write } from './ledger.ts';
import { clusterRecordSchema, siteRecordSchema, type SiteRecord } from './records.ts';
import { View } from './view.ts';

const format = 'causeway-ipam/1';

/**
 * Everything except the audit log, as of one revision. It contains hashes of credentials: keep it private.
 */
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
 * `restore`: the backup may be older than the current use. Sites start as recovering, and fencing tokens start
 * far above every token assigned since the backup. `move`: nothing has changed since, because the source was
 * stopped.
 */
export type RestoreMode = 'restore' | 'move';

const fencingTokenGap = 1_000_000;
const batchSize = 100;

/** Fills an empty ledger. The sites are written last: until they exist, no address is assigned. */
export async function restoreBackup(
  ledger: Ledger,
  backup: Backup,
  mode: RestoreMode,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  await refuseFilled(ledger, signal);
  // Promises in heartbeats from before the backup say nothing about later heartbeats.
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

/** Writes nothing from a backup that no server could load afterwards. */
function readable<T extends Omit<Entry, 'revision'>>(read: () => T[]): T[] {
  try {
    const writes = read();
    new View().fill(writes.map((write) => ({ ...write, revision: 1 })));
    return writes;
  } catch (error) {
    const { message } = CausewayError.from(error);
    throw new CausewayError('invalid', `the backup is damaged: ${message.slice(0, 500)}`, {
      cause: error,
      hint: 'Nothing was restored. The backup may come from a newer version.',
    });
  }
}

async function refuseFilled(ledger: Ledger, signal: AbortSignal): Promise<void> {
  const present = await ledger.load(stateRoot, signal);
  if (present.entries.every(({ key }) => partsOfKey(key).kind !== 'site')) return;
  throw new CausewayError('conflict', 'the ledger is not empty', {
    hint: 'Restore the backup into a new file, or under a new root in etcd.',
  });
}

/** Copies a ledger into an empty one and closes the source. Returns the number of keys. */
export async function moveLedger(
  source: Ledger,
  target: Ledger,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  // The source stays open if the target can't be used.
  await refuseFilled(target, signal);
  // The source is closed before it is copied, so that the copy is complete.
  await suspendAll(source, 'moved', now, signal);
  return restoreBackup(target, await takeBackup(source, now, signal), 'move', now, signal);
}

function restored(key: string, value: unknown, mode: RestoreMode, now: number): unknown {
  const { kind } = partsOfKey(key);
  if (kind === 'site') {
    const { suspended, ...site } = siteRecordSchema.parse(value);
    // A site that was recovering before the move does not have all confirmations yet.
    const since = mode === 'restore' ? now : recoveringSince(suspended);
    return since === undefined ? site : { ...site, suspended: { as: 'recovering', since } };
  }
  if (kind === 'cluster' && mode === 'restore') {
    const cluster = clusterRecordSchema.parse(value);
    return { ...cluster, sequence: cluster.sequence + fencingTokenGap };
  }
  return value;
}

function recoveringSince(suspended: SiteRecord['suspended']): number | undefined {
  return suspended?.as === 'recovering' ? suspended.since : suspended?.recoveringSince;
}

/**
 * Refuses a store to which the ledger was not written. An etcd that was restored from a
 * snapshot doesn't know the addresses assigned since, and would assign them again.
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

/**
 * Suspends every site of a ledger: `recovering` after its store was restored, `moved` before it is copied.
 */
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
      throw new CausewayError('conflict', `${key} changed in the meantime: stop the servers`);
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
