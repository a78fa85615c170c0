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
 * A transaction is atomic, but a packet in transit may see the old rules at one lookup and the new ones at
 * the next: for example, the service has slots and the slot of the packet is missing. Such a packet arrives
 * here unchanged, and would be refused, or answered by the machine itself. It is dropped: the client repeats
 * it, and the new rules handle it.
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
