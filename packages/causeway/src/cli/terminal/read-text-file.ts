import fs from 'node:fs/promises';
import { CausewayError } from '@causeway/base/error/causeway-error';

/** Reads a file that the settings name, such as a secret or a certificate. */
export async function readTextFile(file: string): Promise<string> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'the file does not exist' : (code ?? String(error));
    throw new CausewayError('not-found', `${file} can't be read: ${why}`, { cause: error });
  }
}
