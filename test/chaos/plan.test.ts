import { describe, expect, test } from 'vitest';
import { faultKindsOn, type Ground } from './fault-kinds.ts';
import { planRounds, type Round } from './plan.ts';

function rounds(seed: number, count = 40, ground: Ground = 'embedded'): Round[] {
  return [...planRounds(seed, ground).take(count)];
}

describe('events of a run', () => {
  test('the same seed gives the same plan, another seed a different one', () => {
    expect(rounds(7)).toEqual(rounds(7));
    expect(rounds(7)).not.toEqual(rounds(8));
  });

  test('a longer run begins like a shorter one of the same seed', () => {
    expect(rounds(3, 20).slice(0, 5)).toEqual(rounds(3, 5));
  });

  test('begins without faults', () => {
    for (let seed = 1; seed <= 20; seed += 1) expect(rounds(seed, 1)[0]?.faults).toEqual([]);
  });

  test('operations have existing subjects', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const there = new Set(['sleeper']);
      for (const { operation } of rounds(seed).flatMap(({ operations }) => operations)) {
        if (/^(?:create|reserve|add)/.test(operation.kind)) {
          expect(there).not.toContain(operation.subject);
          there.add(operation.subject);
        } else expect(there).toContain(operation.subject);
        if (/^(?:delete|free|remove)/.test(operation.kind)) there.delete(operation.subject);
      }
    }
  });

  test('existing Services have different pod ports', () => {
    const ports = new Map<string, number>();
    for (const { operation } of rounds(5, 200).flatMap(({ operations }) => operations)) {
      if (operation.kind === 'delete') ports.delete(operation.subject);
      if (operation.kind !== 'create') continue;
      expect([...ports.values()]).not.toContain(operation.targetPort);
      ports.set(operation.subject, operation.targetPort);
    }
  });

  test('both gateways are never out of service at once', () => {
    const planned = Array.from({ length: 30 }, (_, seed) => rounds(seed)).flat();
    for (const { faults } of planned) {
      const traffic = faults.filter(({ fault }) => fault.touches === 'traffic');
      for (const [index, one] of traffic.entries()) {
        const next = traffic[index + 1];
        if (next !== undefined) expect(one.atMs + one.forMs).toBeLessThan(next.atMs);
      }
    }
  });

  test.each(['embedded', 'real'] as const)(
    'every fault happens to every component: %s',
    (ground) => {
      const planned = rounds(1, 2_000, ground).flatMap(({ faults }) => faults);
      const seen = new Set(planned.map(({ fault }) => `${fault.place} ${fault.name}`));
      const all = faultKindsOn(ground).flatMap(({ name, on }) =>
        on.map((place) => `${place} ${name}`),
      );
      expect([...seen].sort()).toEqual([...new Set(all)].sort());
    },
  );

  test('plans only the requested kinds', () => {
    const [, ...later] = planRounds(1, 'embedded', new Set(['killed'])).take(30);
    const names = later.flatMap(({ faults }) => faults.map(({ fault }) => fault.name));
    expect(new Set(names)).toEqual(new Set(['killed']));
  });
});
