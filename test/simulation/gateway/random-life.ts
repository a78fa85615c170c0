import fc from 'fast-check';

/** What a user requests beside ports. */
export interface DesiredService {
  /** Index into a few addresses; 0 is none. */
  readonly address: number;
  readonly isShared: boolean;
  readonly keep: 'true' | 'false' | undefined;
}

/** An action of a user or an operator, or a fault. Numbers choose among existing objects. */
export type Act =
  | {
      readonly kind: 'create';
      readonly service: number;
      readonly ports: readonly number[];
      readonly families: 'IPv4' | 'IPv6' | 'both';
      readonly desired: DesiredService;
    }
  | { readonly kind: 'change ports'; readonly service: number; readonly ports: readonly number[] }
  | { readonly kind: 'change spec'; readonly service: number; readonly desired: DesiredService }
  | { readonly kind: 'change type'; readonly service: number }
  | { readonly kind: 'delete'; readonly service: number }
  | { readonly kind: 'delete by force'; readonly service: number }
  | { readonly kind: 'lose port'; readonly which: number }
  | { readonly kind: 'lose floating IP'; readonly which: number }
  /** Limits ports or floating IPs to the current number. */
  | { readonly kind: 'exhaust'; readonly what: 'port' | 'floatingip' }
  | { readonly kind: 'gateway'; readonly which: number; readonly mode: 'works' | 'fails' | 'hangs' }
  | { readonly kind: 'restart' }
  /** The controller is stopped while one of them changes. */
  | { readonly kind: 'change unseen'; readonly service: number; readonly ports: readonly number[] }
  | {
      readonly kind: 'change spec unseen';
      readonly service: number;
      readonly desired: DesiredService;
    }
  /**
   * The controller is stopped while a user copies the annotations of another Service, or the whole Service.
   */
  | { readonly kind: 'seize unseen'; readonly service: number; readonly victim: number }
  | { readonly kind: 'steps'; readonly count: number }
  | { readonly kind: 'settle' };

const service = fc.nat({ max: 5 });
const which = fc.nat({ max: 7 });
const ports = fc.uniqueArray(fc.constantFrom(25, 80, 443), { minLength: 1, maxLength: 2 });
const families = fc.constantFrom(
  'IPv4' as const,
  'IPv4' as const,
  'both' as const,
  'IPv6' as const,
);
const desired: fc.Arbitrary<DesiredService> = fc.record({
  address: fc.constantFrom(0, 0, 0, 1, 2),
  isShared: fc.boolean(),
  keep: fc.constantFrom(undefined, undefined, 'true' as const, 'false' as const),
});

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('create'), service, ports, families, desired }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change ports'), service, ports }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change spec'), service, desired }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change type'), service }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), service }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete by force'), service }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose port'), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose floating IP'), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('exhaust'),
      what: fc.constantFrom('port', 'floatingip'),
    }),
  },
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
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('change spec unseen'), service, desired }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('seize unseen'), service, victim: service }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('steps'), count: fc.nat({ max: 60 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle') }) },
);

export const life: fc.Arbitrary<readonly Act[]> = fc.array(act, { minLength: 5, maxLength: 25 });
