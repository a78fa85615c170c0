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
  const words = ['--project', 'tsconfig.build.json', '--outDir', path.join(directory, 'dist')];
  const compiler = path.join(root, 'node_modules', '.bin', 'tsc');
  const code = await new Promise((resolve) => {
    spawn(compiler, words, { cwd: root, stdio: 'inherit' }).once('close', resolve);
  });
  if (code !== 0) throw new Error(`tsc ended with ${String(code)}`);
  for (const name of ['package.json', 'node_modules']) {
    await fs.symlink(path.join(root, name), path.join(directory, name));
  }
  return path.join(directory, 'dist', 'cli', 'main.js');
}
