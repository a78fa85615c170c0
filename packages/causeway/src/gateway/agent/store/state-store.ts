import fs from 'node:fs/promises';
import path from 'node:path';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { syncDirectory } from '@causeway/base/process/atomic-file';
import { emptyState, StateHolder, type Change, type GatewayState } from './state.ts';
import { StepReader, writeStep, type Step } from './change-lines.ts';

/** The agent's stored data at its start: the last accepted configuration and its undo steps. */
export interface Stored {
  readonly holder: StateHolder;
  readonly undo: Change[];
}

/** Number of steps that an operator can undo. */
export const undoDepth = 10;

const fileName = 'accepted';
const linesPerWrite = 500;
const smallestCompaction = 4 * 1024 * 1024;

/**
 * The last accepted configuration on disk: one file of steps, the first of them a snapshot. Appending a step
 * takes a write and a sync, so its cost depends on the step's size. When the steps have outgrown the
 * snapshot, a new file replaces the old one by a rename. An incomplete step is ignored and truncated.
 */
export class StateStore {
  readonly #directory: string;
  #file: fs.FileHandle;
  #size: number;
  #snapshotSize: number;
  /** Whether the file may end with part of a failed step. */
  #hasTornEnd = false;
  /** Whether a crash may bring back the replaced file, without the steps appended since. */
  #isNameUnsure = false;

  private constructor(directory: string, file: fs.FileHandle, size: number) {
    this.#directory = directory;
    this.#file = file;
    this.#size = size;
    this.#snapshotSize = size;
  }

  static async open(directory: string): Promise<{ store: StateStore; stored: Stored }> {
    await fs.mkdir(directory, { recursive: true, mode: 0o700 });
    await fs.rm(path.join(directory, `${fileName}.new`), { force: true });
    const file = await fs.open(path.join(directory, fileName), 'a+', 0o600);
    try {
      const { stored, size } = await readSteps(file);
      await file.truncate(size);
      await syncDirectory(directory);
      return { store: new StateStore(directory, file, size), stored };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Appends a step. After it resolves, the step survives a crash. If it rejects, nothing was appended. */
  async append(step: Step): Promise<void> {
    let added = 0;
    try {
      if (this.#isNameUnsure) await this.#makeNameSure();
      if (this.#hasTornEnd) await this.#cutTornEnd();
      this.#hasTornEnd = true;
      for (const chunk of chunks(writeStep(step))) {
        const bytes = Buffer.from(chunk);
        await this.#file.appendFile(bytes);
        added += bytes.length;
      }
      await this.#file.datasync();
      this.#size += added;
      this.#hasTornEnd = false;
    } catch (error) {
      await this.#cutTornEnd().catch(() => undefined);
      throw new CausewayError('unavailable', "the configuration can't be stored", {
        cause: error,
        hint: `Check that ${this.#directory} has free space and that the agent may write there.`,
      });
    }
  }

  /** If this fails too, the next append first tries it again. */
  async #cutTornEnd(): Promise<void> {
    await this.#file.truncate(this.#size);
    this.#hasTornEnd = false;
  }

  get needsCompaction(): boolean {
    return this.#size - this.#snapshotSize > Math.max(this.#snapshotSize, smallestCompaction);
  }

  /** Replaces all steps with one equivalent snapshot. A crash leaves the old file or the new one. */
  async compact(state: GatewayState, undo: readonly Change[]): Promise<void> {
    const temporary = path.join(this.#directory, `${fileName}.new`);
    await fs.rm(temporary, { force: true });
    const file = await fs.open(temporary, 'a+', 0o600);
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
      await fs.rename(temporary, path.join(this.#directory, fileName));
    } catch (error) {
      await file.close();
      throw error;
    }
    // From here on this is the current file, even after an error: steps appended to the old file would be
    // lost.
    const before = this.#file;
    this.#file = file;
    this.#size = size;
    this.#snapshotSize = size;
    this.#hasTornEnd = false;
    this.#isNameUnsure = true;
    await before.close();
    await this.#makeNameSure();
  }

  /** If this fails, the next append first tries it again. */
  async #makeNameSure(): Promise<void> {
    await syncDirectory(this.#directory);
    this.#isNameUnsure = false;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** The whole state as one change, then the undo steps as steps without changes. */
function* snapshotSteps(state: GatewayState, undo: readonly Change[]): Generator<Step> {
  yield { change: state, undo: undefined, undoes: 0 };
  const { generation, digest } = state;
  const nothing: Change = { ...emptyState, generation, digest };
  for (const back of undo) yield { change: nothing, undo: back, undoes: 0 };
}

/** Adds an undo step, and drops the oldest beyond the depth. */
export function recordUndo(undo: Change[], step: Step): void {
  undo.length -= Math.min(step.undoes, undo.length);
  if (step.undo !== undefined) undo.push(step.undo);
  if (undo.length > undoDepth) undo.splice(0, undo.length - undoDepth);
}

async function readSteps(file: fs.FileHandle): Promise<{ stored: Stored; size: number }> {
  const stored: Stored = { holder: new StateHolder(), undo: [] };
  let reader = new StepReader();
  let position = 0;
  let size = 0;
  for await (const line of wholeLines(file)) {
    position += Buffer.byteLength(line) + 1;
    let step: Step | undefined;
    try {
      step = reader.line(line);
    } catch (cause) {
      if (await isLastStep(file, position)) break;
      throw new CausewayError(
        'invalid',
        `the stored configuration is damaged at byte ${position}`,
        {
          cause,
          hint: 'Move the file away; the controller then sends the full state.',
        },
      );
    }
    if (step === undefined) continue;
    stored.holder.commit(step.change);
    recordUndo(stored.undo, step);
    size = position;
    reader = new StepReader();
  }
  return { stored, size };
}

/** A crash can only damage the last step. Returns whether no other step follows this position. */
async function isLastStep(file: fs.FileHandle, position: number): Promise<boolean> {
  for await (const line of wholeLines(file, position)) if (line.startsWith('{"step"')) return false;
  return true;
}

/** The lines that end in a newline, without a truncated last line. */
async function* wholeLines(file: fs.FileHandle, start = 0): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  const stream = file.createReadStream({ start, autoClose: false, highWaterMark: 256 * 1024 });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString();
      rest = [];
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
  }
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
