import { z } from 'zod';
import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';

/** An IP address in the settings, of one family if it is named. */
export const addressSetting = (family?: Family) =>
  z
    .string()
    .refine(
      (text) => {
        const parsed = tryParseAddress(text);
        return parsed !== undefined && (family === undefined || familyOf(parsed) === family);
      },
      `is not an ${family === undefined ? 'IP' : `IPv${family}`} address`,
    )
    .transform((text) => tryParseAddress(text) as Address);
