import { parseDuration } from '@causeway/base/time/duration';
import type { Flags } from '../flag-values.ts';

export function withdrawalOf(options: Flags) {
  const after = options['withdrawsAfter'];
  if (after === undefined) return undefined;
  return { afterMs: parseDuration(after), graceMs: parseDuration(options['grace'] ?? '30s') };
}
