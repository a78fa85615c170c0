import { CausewayError } from '@causeway/base/error/causeway-error';

/**
 * Refuses the fencing token under its name in 0.1.0. Unknown fields are ignored otherwise, and a release without
 * its token would not be checked.
 */
export function refuseLegacyFields(where: string, fields: unknown): void {
  if (typeof fields !== 'object' || fields === null || !Object.hasOwn(fields, 'fence')) return;
  throw new CausewayError('invalid', `${where}: the field fence is now fencingToken`, {
    hint: 'The client is older than the server. Upgrade the client.',
  });
}
