import { describe, expect, test } from 'vitest';
import { faultKinds } from './fault-kinds.ts';
import { planRounds, type Round } from './plan.ts';

function rounds(seed: number, count = 40): Round[] {
  return [...planRounds(seed).take(count)];
}

describe('what happens in a run', () => {
  test('the same seed plans the same, another one something else', () => {
    expect(rounds(7)).toEqual(rounds(7));
    expect(rounds(7)).not.toEqual(rounds(8));
  });

  test('a longer run begins as a shorter one of the same seed', () => {
    expect(rounds(3, 20).slice(0, 5)).toEqual(rounds(3, 5));
  });

  test('begins without faults', () => {
    for (let seed = 1; seed <= 20; seed += 1) expect(rounds(seed, 1)[0]?.faults).toEqual([]);
  });

  test('operations are about Services that are there', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const there = new Set<string>();
      for (const { operation } of rounds(seed).flatMap(({ operations }) => operations)) {
        if (operation.kind === 'create') {
          expect(there).not.toContain(operation.service);
          there.add(operation.service);
        } else expect(there).toContain(operation.service);
        if (operation.kind === 'delete') there.delete(operation.service);
      }
    }
  });

  test('no two Services that are there have the same port of the pods', () => {
    const ports = new Map<string, number>();
    for (const { operation } of rounds(5, 200).flatMap(({ operations }) => operations)) {
      if (operation.kind === 'delete') ports.delete(operation.service);
      if (operation.kind !== 'create') continue;
      expect([...ports.values()]).not.toContain(operation.targetPort);
      ports.set(operation.service, operation.targetPort);
    }
  });

  test('never are both gateways out of service', () => {
    const planned = Array.from({ length: 30 }, (_, seed) => rounds(seed)).flat();
    for (const { faults } of planned) {
      const traffic = faults.filter(({ fault }) => fault.touches === 'traffic');
      for (const [index, one] of traffic.entries()) {
        const next = traffic[index + 1];
        if (next !== undefined) expect(one.atMs + one.forMs).toBeLessThan(next.atMs);
      }
    }
  });

  test('every kind of fault happens', () => {
    const planned = rounds(1, 400).flatMap(({ faults }) => faults);
    const seen = new Set(planned.map(({ fault }) => fault.name));
    expect([...seen].sort()).toEqual(faultKinds.map(({ name }) => name).sort());
  });

  test('only the kinds that are asked for', () => {
    const [, ...later] = planRounds(1, new Set(['killed'])).take(30);
    const names = later.flatMap(({ faults }) => faults.map(({ fault }) => fault.name));
    expect(new Set(names)).toEqual(new Set(['killed']));
  });
});
