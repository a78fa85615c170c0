import fs from 'node:fs/promises';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { StateHolder, type Change } from './state.ts';
import { StepReader, type Step } from './change-lines.ts';

/** The agent's stored data at its start: the last accepted configuration and its undo steps. */
export interface Stored {
  readonly holder: StateHolder;
  readonly undo: Change[];
}

/** Number of steps that an operator can undo. */
export const undoDepth = 10;

/** Adds an undo step, and drops the oldest beyond the depth. */
export function recordUndo(undo: Change[], step: Step): void {
  undo.length -= Math.min(step.undoes, undo.length);
  if (step.undo !== undefined) undo.push(step.undo);
  if (undo.length > undoDepth) undo.splice(0, undo.length - undoDepth);
}

/** The complete steps of a file. */
export interface ReadSteps {
  readonly stored: Stored;
  /** Number of bytes of the complete steps. An incomplete last step follows them. */
  readonly size: number;
  /** Why the steps after these bytes can't be read. A crash during a write is no damage. */
  readonly damage: string | undefined;
}

/** Reads the steps of a file up to the first damaged one. Returns undefined if there is no file. */
export async function readSteps(path: string): Promise<ReadSteps | undefined> {
  const nothing: Stored = { holder: new StateHolder(), undo: [] };
  let file: fs.FileHandle;
  try {
    file = await fs.open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return { stored: nothing, size: 0, damage: CausewayError.from(error).message };
  }
  try {
    return await readFrom(file);
  } catch (error) {
    return { stored: nothing, size: 0, damage: CausewayError.from(error).message };
  } finally {
    await file.close();
  }
}

async function readFrom(file: fs.FileHandle): Promise<ReadSteps> {
  const stored: Stored = { holder: new StateHolder(), undo: [] };
  let reader = new StepReader();
  let position = 0;
  let size = 0;
  for await (const line of wholeLines(file)) {
    position += Buffer.byteLength(line) + 1;
    let step: Step | undefined;
    try {
      step = reader.line(line);
    } catch {
      if (await isLastStep(file, position)) break;
      return { stored, size, damage: `it is damaged before byte ${position}` };
    }
    if (step === undefined) continue;
    stored.holder.commit(step.change);
    recordUndo(stored.undo, step);
    size = position;
    reader = new StepReader();
  }
  return { stored, size, damage: undefined };
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
