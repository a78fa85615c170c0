import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Address } from '@causeway/base/address/address';
import { QuarantineOrder } from './quarantine-order.ts';

test('agrees with a plain map of the quarantines', () => {
  const step = fc.record({
    address: fc.nat({ max: 9 }).map((value) => `10.0.0.${value}` as Address),
    until: fc.option(fc.nat({ max: 50 })),
    check: fc.boolean(),
    now: fc.nat({ max: 50 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const rests = new Map<Address, number>();
      const quarantineOrder = new QuarantineOrder();
      const restOf = (address: Address) => rests.get(address);
      for (const { address, until, check, now } of steps) {
        if (until === null) rests.delete(address);
        else {
          rests.set(address, until);
          quarantineOrder.add(address, until);
        }
        if (!check) continue;
        const expected = [...rests].filter(([, end]) => end <= now).map(([each]) => each);
        expect(new Set(quarantineOrder.expired(now, restOf))).toEqual(new Set(expected));
        const later = [...rests.values()].filter((end) => end > now);
        const next = quarantineOrder.next(restOf);
        if (later.length > 0) expect(next).toBe(Math.min(...later));
      }
    }),
  );
});
