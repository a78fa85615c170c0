import type { Family } from '@causeway/base/address/address';
import type { Rule } from '../model/expression.ts';
import { setNames } from '../model/names.ts';
import {
  drop,
  isDestinationAsItWas,
  isFamily,
  isIn,
  isNew,
  isNotIn,
  protocol,
  target,
} from '../model/operands.ts';

/**
 * A transaction takes effect at once, but a packet that is on its way through the rules then sees the
 * old ones at one lookup and the new ones at the next: it may find that a service has slots, and the
 * slot it wants gone. It comes here as it was sent, and would be refused, or answered by the machine
 * itself. It is dropped: the client sends it again, and the new rules have it.
 */
export function overtakenRule(family: Family): Rule {
  return {
    statements: [
      isNew,
      isDestinationAsItWas,
      isFamily(family),
      isNotIn(target(family), setNames.refused(family)),
      isNotIn(target(family), setNames.unchanged(family)),
      isIn(target(family), setNames.counts(family)),
      isNotIn([protocol], setNames.nodeless(family)),
      drop,
    ],
  };
}
