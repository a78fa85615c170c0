import fs from 'node:fs/promises';
import type { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { replaceFile } from '@causeway/base/process/atomic-file';
import { setAside } from './set-aside.ts';
import { readStoredJson } from './stored-json.ts';

export interface LoadedFile<T> {
  readonly value: T;
  /** Why the file could not be read, and what the agent uses instead; undefined if the file was good. */
  readonly damage: string | undefined;
}

/**
 * Reads a small JSON file of the agent. A file that can't be read is set aside, and its copy is used, or
 * the fallback without one. An agent starts with every content of its files.
 */
export async function loadSmallFile<T>(
  file: string,
  schema: z.ZodType<T>,
  fallback: T,
): Promise<LoadedFile<T>> {
  try {
    const text = await readIfThere(file);
    const value = text === undefined ? fallback : readStoredJson(file, text, schema);
    return { value, damage: undefined };
  } catch (error) {
    const { message } = CausewayError.from(error);
    await setAside(file).catch(() => undefined);
    const copy = await readCopy(file, schema);
    const instead = copy === undefined ? 'starts without its contents' : 'uses the copy';
    return { value: copy ?? fallback, damage: `${message}; the agent ${instead}` };
  }
}

/** Writes a small file and its copy. The copy comes first: it is never older than the file. */
export async function storeSmallFile(file: string, content: string): Promise<void> {
  await replaceFile(copyOf(file), content);
  await replaceFile(file, content);
}

async function readCopy<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    const text = await readIfThere(copyOf(file));
    return text === undefined ? undefined : readStoredJson(copyOf(file), text, schema);
  } catch {
    return undefined;
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const copyOf = (file: string): string => `${file}.copy`;
