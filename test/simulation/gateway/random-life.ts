import fc from 'fast-check';

/** Something that a user, an operator or fate does. Numbers choose among what is there. */
export type Act =
  | { readonly kind: 'create'; readonly service: number; readonly ports: readonly number[] }
  | { readonly kind: 'change ports'; readonly service: number; readonly ports: readonly number[] }
  | { readonly kind: 'change type'; readonly service: number }
  | { readonly kind: 'delete'; readonly service: number }
  | { readonly kind: 'delete by force'; readonly service: number }
  | { readonly kind: 'lose port'; readonly which: number }
  | { readonly kind: 'lose floating IP'; readonly which: number }
  | { readonly kind: 'gateway'; readonly which: number; readonly mode: 'works' | 'fails' | 'hangs' }
  | { readonly kind: 'restart' }
  /** The controller is gone while one of them changes its ports. */
  | { readonly kind: 'change unseen'; readonly service: number; readonly ports: readonly number[] }
  | { readonly kind: 'steps'; readonly count: number }
  | { readonly kind: 'settle' };

const service = fc.nat({ max: 5 });
const which = fc.nat({ max: 7 });
const ports = fc.uniqueArray(fc.constantFrom(25, 80, 443), { minLength: 1, maxLength: 2 });

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create'), service, ports }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change ports'), service, ports }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change type'), service }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), service }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete by force'), service }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose port'), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose floating IP'), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('gateway'),
      which,
      mode: fc.constantFrom('works', 'fails', 'hangs'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('change unseen'), service, ports }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('steps'), count: fc.nat({ max: 60 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle') }) },
);

export const life: fc.Arbitrary<readonly Act[]> = fc.array(act, { minLength: 5, maxLength: 25 });
