import fs from 'node:fs';
import path from 'node:path';

const sources = path.join(path.dirname(import.meta.dirname), 'packages');
/** Fakes and simulations use the texts of other programs. */
const doubles = /^(fake-[a-z]+|causeway\/src\/playground)\/|(^|\/)testing\/|\.(test|testing)\.ts$/;

/** Every match of the first group in Causeway's own sources, or in a directory of them. */
export function wordsInSources(patterns: readonly RegExp[], folder = ''): Set<string> {
  const found = new Set<string>();
  for (const entry of fs.readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
    const isOurs = entry.startsWith(folder) && !doubles.test(entry);
    if (!isOurs || !entry.endsWith('.ts')) continue;
    const text = fs.readFileSync(path.join(sources, entry), 'utf8');
    for (const pattern of patterns) {
      for (const [, word] of text.matchAll(new RegExp(pattern, 'g'))) {
        if (word !== undefined) found.add(word);
      }
    }
  }
  return found;
}
