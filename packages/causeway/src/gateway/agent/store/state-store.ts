import fs from 'node:fs/promises';
import path from 'node:path';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { syncDirectory } from '@causeway/base/process/atomic-file';
import { emptyState, StateHolder, type Change, type GatewayState } from './state.ts';
import { writeStep, type Step } from './change-lines.ts';
import { readSteps, type ReadSteps, type Stored } from './read-steps.ts';
import { setAside } from './set-aside.ts';

/** The store at the agent's start. */
export interface OpenedStore {
  readonly store: StateStore;
  readonly stored: Stored;
  /** Why `stored` is an older state than the accepted one; undefined if the file was good. */
  readonly damage: string | undefined;
}

export const acceptedFile = 'accepted';
const linesPerWrite = 500;
const smallestCompaction = 4 * 1024 * 1024;

/**
 * The last accepted configuration on disk: one file of steps, the first of them a snapshot. Appending a step
 * takes a write and a sync, so its cost depends on the step's size. When the steps have outgrown the
 * snapshot, a new file replaces the old one by a rename. An incomplete step is ignored and truncated.
 *
 * `accepted.previous` is the file as of the last start or compaction. A damaged file is set aside as
 * `accepted.damaged-N`. A disk that can't be written to is a problem of the store, and not of the caller:
 * the state stays in memory, and a later compaction stores it.
 */
export class StateStore {
  readonly #directory: string;
  #file: fs.FileHandle | undefined;
  #size: number;
  #snapshotSize: number;
  #isDamaged: boolean;
  #problem: string | undefined;

  private constructor(directory: string, size: number, isDamaged: boolean) {
    this.#directory = directory;
    this.#size = size;
    this.#snapshotSize = size;
    this.#isDamaged = isDamaged;
  }

  /** Opens the store in every case. A file that can't be read leads to the newest state that can. */
  static async open(directory: string): Promise<OpenedStore> {
    const file = path.join(directory, acceptedFile);
    const { stored, size, damage } = await readNewest(file);
    const store = new StateStore(directory, size, damage !== undefined);
    await store.#attempt(async () => {
      await fs.mkdir(directory, { recursive: true, mode: 0o700 });
      await fs.rm(`${file}.new`, { force: true });
      if (damage === undefined) await keepPrevious(file, size);
    });
    if (damage !== undefined) {
      await store.compact(stored.holder.current, stored.undo).catch(() => undefined);
    }
    return { store, stored, damage };
  }

  /** Why the current state is not on disk; undefined if it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Appends a step. After it resolves, the step survives a crash, unless there is a problem. */
  async append(step: Step): Promise<void> {
    // The file lacks earlier steps. The next compaction stores all of them.
    if (this.#problem !== undefined) return;
    await this.#attempt(async () => {
      const file = await this.#openFile();
      let added = 0;
      for (const chunk of chunks(writeStep(step))) {
        const bytes = Buffer.from(chunk);
        await file.appendFile(bytes);
        added += bytes.length;
      }
      await file.datasync();
      this.#size += added;
    });
  }

  async #openFile(): Promise<fs.FileHandle> {
    if (this.#file !== undefined) return this.#file;
    const file = await fs.open(path.join(this.#directory, acceptedFile), 'a', 0o600);
    this.#file = file;
    await file.truncate(this.#size);
    await syncDirectory(this.#directory);
    return file;
  }

  async #attempt(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#problem = `the configuration can't be stored in ${this.#directory}: ${CausewayError.from(error).message}`;
    }
  }

  get needsCompaction(): boolean {
    if (this.#problem !== undefined) return true;
    return this.#size - this.#snapshotSize > Math.max(this.#snapshotSize, smallestCompaction);
  }

  /**
   * Replaces all steps with one equivalent snapshot. A crash leaves the old file or the new one. If it fails,
   * the problem stays until a compaction succeeds: later steps would be appended to the wrong file.
   */
  async compact(state: GatewayState, undo: readonly Change[]): Promise<void> {
    const target = path.join(this.#directory, acceptedFile);
    const temporary = `${target}.new`;
    try {
      await fs.mkdir(this.#directory, { recursive: true, mode: 0o700 });
      const size = await writeSnapshot(temporary, state, undo);
      if (this.#isDamaged) await setAside(target);
      else await linkPrevious(target);
      await fs.rename(temporary, target);
      this.#isDamaged = false;
      await this.close();
      this.#size = size;
      this.#snapshotSize = size;
      await syncDirectory(this.#directory);
      this.#problem = undefined;
    } catch (error) {
      await fs.rm(temporary, { force: true }).catch(() => undefined);
      await this.#attempt(() => Promise.reject(CausewayError.from(error)));
      throw error;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

/** The newest state that can be read, from the file or from the previous one. */
async function readNewest(file: string): Promise<ReadSteps> {
  const nothing: ReadSteps = {
    stored: { holder: new StateHolder(), undo: [] },
    size: 0,
    damage: undefined,
  };
  const current = await readSteps(file);
  // Without a file, this is the first start, or an operator has moved the file away.
  if (current === undefined) return nothing;
  if (current.damage === undefined && current.size > 0) return current;
  const previous = await readSteps(previousOf(file));
  const hasPrevious = previous !== undefined && previous.size > 0;
  if (current.damage === undefined && !hasPrevious) return current;
  const damage = `${file} can't be read: ${current.damage ?? 'it is empty'}`;
  const isPreviousNewer =
    hasPrevious &&
    previous.stored.holder.current.generation > current.stored.holder.current.generation;
  return { ...(isPreviousNewer ? previous : current), damage };
}

const previousOf = (file: string): string => `${file}.previous`;

/** The copy has no later steps than the file. Without space for it, the agent works without a copy. */
async function keepPrevious(file: string, size: number): Promise<void> {
  if (size === 0) return;
  const temporary = `${file}.previous.new`;
  try {
    await fs.copyFile(file, temporary);
    const copy = await fs.open(temporary, 'r+');
    try {
      await copy.sync();
    } finally {
      await copy.close();
    }
    await fs.rename(temporary, previousOf(file));
  } catch {
    await fs.rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** Keeps the file that a compaction replaces. It takes no more space than before. */
async function linkPrevious(file: string): Promise<void> {
  const temporary = `${file}.previous.new`;
  await fs.rm(temporary, { force: true });
  const isLinked = await fs.link(file, temporary).then(
    () => true,
    () => false,
  );
  if (isLinked) await fs.rename(temporary, previousOf(file));
}

async function writeSnapshot(
  temporary: string,
  state: GatewayState,
  undo: readonly Change[],
): Promise<number> {
  const file = await fs.open(temporary, 'w', 0o600);
  let size = 0;
  try {
    for (const step of snapshotSteps(state, undo)) {
      for (const chunk of chunks(writeStep(step))) {
        const bytes = Buffer.from(chunk);
        await file.appendFile(bytes);
        size += bytes.length;
      }
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return size;
}

/** The whole state as one change, then the undo steps as steps without changes. */
function* snapshotSteps(state: GatewayState, undo: readonly Change[]): Generator<Step> {
  yield { change: state, undo: undefined, undoes: 0 };
  const { generation, digest } = state;
  const nothing: Change = { ...emptyState, generation, digest };
  for (const back of undo) yield { change: nothing, undo: back, undoes: 0 };
}

/** Lines joined into writes of a bounded size, so that a large step never blocks for long. */
function* chunks(lines: Iterable<string>): Generator<string> {
  let batch: string[] = [];
  for (const line of lines) {
    batch.push(line);
    if (batch.length === linesPerWrite) {
      yield batch.join('');
      batch = [];
    }
  }
  if (batch.length > 0) yield batch.join('');
}
