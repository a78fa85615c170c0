import { z } from 'zod';
import { CausewayError } from '../error/causeway-error.ts';
import { parsePrefix } from '../address/prefix.ts';

/** A setting that is parsed from text. A parse error is reported with the setting's place. */
export function parsed<T>(parse: (text: string) => T) {
  return z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue(CausewayError.from(error).message);
      return z.NEVER;
    }
  });
}

/** A network such as `192.0.2.0/24`. */
export const networkSetting = parsed(parsePrefix);
