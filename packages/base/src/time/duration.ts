import { CausewayError } from '../error/causeway-error.ts';
import { quoted, textLimits } from '../text/text-limit.ts';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** At most 15 digits: as days, they are already more milliseconds than a number holds exactly. */
const part = /(\d{1,15})(ms|s|m|h|d)/y;

/** Parses `90s`, `1h30m` or `250ms` into milliseconds. Rejects a number without a unit. */
export function parseDuration(text: string): number {
  const milliseconds = text.length > textLimits.duration ? undefined : sumOfParts(text);
  if (milliseconds !== undefined) return milliseconds;
  throw new CausewayError('invalid', `${quoted(text)} is not a length of time`, {
    hint: 'Write it with its unit: 250ms, 90s, 10m, 1h30m, 7d.',
  });
}

/** Undefined if a part is not a number with a unit. */
function sumOfParts(text: string): number | undefined {
  if (text === '') return undefined;
  let sum = 0;
  for (let at = 0; at < text.length; at = part.lastIndex) {
    part.lastIndex = at;
    const match = part.exec(text);
    if (match === null) return undefined;
    sum += Number(match[1]) * (units[match[2] ?? ''] ?? 0);
  }
  return sum;
}
