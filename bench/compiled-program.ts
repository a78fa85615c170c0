import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);

/**
 * Compiles the command line into a directory, as in packages and images. Returns the file that Node runs.
 * Running from sources needs more memory, for the compiler that turns each file into JavaScript when it is
 * loaded.
 */
export async function compileProgram(directory: string): Promise<string> {
  const dist = path.join(directory, 'dist');
  const words = [path.join(root, 'scripts', 'build.ts'), dist];
  const code = await new Promise((resolve) => {
    spawn(process.execPath, words, { cwd: root, stdio: 'inherit' }).once('close', resolve);
  });
  if (code !== 0) throw new Error(`scripts/build.ts ended with ${String(code)}`);
  for (const name of ['package.json', 'node_modules']) {
    await fs.symlink(path.join(root, name), path.join(directory, name));
  }
  return path.join(dist, 'causeway', 'src', 'cli', 'main.js');
}
