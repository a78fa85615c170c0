import fs from 'node:fs/promises';
import module from 'node:module';
import path from 'node:path';

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The files of the pages, read once. In a clone they are TypeScript; their types are stripped here. No
 * bundler is used, so the browser runs the code of the file.
 */
export async function loadAssets(directory: string): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  for await (const file of fs.glob('**/*.{html,css,js,ts,svg}', { cwd: directory })) {
    if (file.endsWith('.test.ts') || file.endsWith('.d.ts')) continue;
    const extension = path.extname(file);
    const text = await fs.readFile(path.join(directory, file), 'utf8');
    const body = extension === '.ts' ? module.stripTypeScriptTypes(text) : text;
    const name = `/${file.split(path.sep).join('/')}`;
    assets.set(name === '/index.html' ? '/' : name, {
      type: types[extension] ?? 'application/octet-stream',
      body: Buffer.from(body),
    });
  }
  return assets;
}
