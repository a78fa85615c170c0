import { CausewayError } from '@causeway/base/error/causeway-error';
import { quoted } from '@causeway/base/text/text-limit';

/** `tier=gold,zone=b`: the labels of a pool, or the labels that a pool must have. */
export function parsePoolLabels(text: string): Record<string, string> {
  const pairs = text.split(',').map((part) => part.trim());
  return Object.fromEntries(pairs.filter((pair) => pair !== '').map((pair) => splitPair(pair)));
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new CausewayError('invalid', `${quoted(pair)} is not name=value`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}
