import fs from 'node:fs';
import path from 'node:path';

/** The version in the root package.json, which is as far from the sources as from the compiled files. */
export function causewayVersion(): string {
  const file = path.join(import.meta.dirname, '../../../../..', 'package.json');
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string }).version;
}
