import fs from 'node:fs/promises';
import { CausewayError } from '../domain/error.ts';

/** A file that the settings name, such as a secret or a certificate. */
export async function readTextFile(file: string): Promise<string> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    throw new CausewayError('not-found', `${file} can't be read`, { cause: error });
  }
}
