import fs from 'node:fs/promises';
import path from 'node:path';

/** Replaces a file's content atomically: a reader sees the old or the new content, even after a crash. */
export async function replaceFile(file: string, content: string, mode = 0o600): Promise<void> {
  const temporary = `${file}.new`;
  const handle = await fs.open(temporary, 'w', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await fs.rename(temporary, file);
  await syncDirectory(path.dirname(file));
}

/** Makes renames and new files in a directory survive a crash. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await fs.open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
