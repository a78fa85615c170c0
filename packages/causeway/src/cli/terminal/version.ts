import fs from 'node:fs';
import path from 'node:path';

/**
 * The version in the root package.json, which has the same distance from the sources and the compiled files.
 */
export function causewayVersion(): string {
  const file = path.join(import.meta.dirname, '../../../../..', 'package.json');
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string }).version;
}
