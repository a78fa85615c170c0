import { canonicalText } from '../schema/json.ts';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A short hash of a template. Its alphabet doesn't form words. */
export function templateHash(template: unknown, collisions = 0): string {
  const text = canonicalText(template) + (collisions === 0 ? '' : String(collisions));
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return [...Buffer.from(String(hash))]
    .map((byte) => alphabet[byte % alphabet.length] ?? '')
    .join('');
}
