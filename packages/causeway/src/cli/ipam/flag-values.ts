import { familyOf, parseAddress, type Family } from '@causeway/base/address/address';
import { parseDuration } from '@causeway/base/time/duration';
import { CausewayError } from '@causeway/base/error/causeway-error';

/** The options of a command, by name. */
export type Flags = Record<string, string | undefined>;

/** Parses a flag's number; `undefined` if it was not given. */
export function numberOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new CausewayError('invalid', `${flag}: ${JSON.stringify(text)} is not a whole number`);
}

export const durationOf = (text: string | undefined) =>
  text === undefined ? undefined : parseDuration(text);

export const listOf = (text: string | undefined): string[] =>
  text === undefined ? [] : text.split(',').map((item) => item.trim());

export function familiesOf(text: string | undefined): Family[] {
  return listOf(text ?? '4').map((item) => {
    if (item === '4' || item === '6') return item === '4' ? 4 : 6;
    throw new CausewayError('invalid', `--families: ${JSON.stringify(item)} is neither 4 nor 6`);
  });
}

/** Parses addresses, with their families. */
export function addressesOf(text: string | undefined): { addresses: string[]; families: Family[] } {
  const addresses = listOf(text).map(parseAddress);
  return { addresses, families: addresses.map(familyOf) };
}
