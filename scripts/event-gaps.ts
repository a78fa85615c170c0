import fs from 'node:fs';
import path from 'node:path';
import { eventsByComponent } from '../packages/causeway/src/cli/event-definitions.ts';

const root = path.dirname(import.meta.dirname);

/**
 * Defined Events that no source records, and Events that no test asserts. The compiler rejects the opposite,
 * an Event without a definition.
 */
export function eventGaps(): string[] {
  const files = ['packages', 'test'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => path.join(folder, file))
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules')),
  );
  const isTest = (file: string) => file.endsWith('.test.ts');
  const defines = (file: string) => read(file).includes('defineEvent(');
  const used = wordsOf(files.filter((file) => !isTest(file) && !defines(file)));
  const tested = wordsOf(files.filter(isTest));
  const reasons = new Set(
    Object.values(eventsByComponent).flatMap((events) => Object.keys(events)),
  );
  return [...reasons].flatMap((reason) => [
    ...(used.has(reason) ? [] : [`no source records the Event ${reason}`]),
    ...(tested.has(reason) ? [] : [`no test asserts the Event ${reason}`]),
  ]);
}

function wordsOf(files: readonly string[]): Set<string> {
  const words = files.flatMap((file) => read(file).match(/\b[A-Z][A-Za-z0-9]+\b/g) ?? []);
  return new Set(words);
}

function read(file: string): string {
  return fs.readFileSync(path.join(root, file), 'utf8');
}
