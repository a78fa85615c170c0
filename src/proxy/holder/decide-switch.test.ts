import { expect, it } from 'vitest';
import { decideSwitch, type SwitchInput } from './decide-switch.ts';

const base: SwitchInput = {
  isMarked: true,
  hasReadyEndpoint: false,
  isHeld: false,
  unmarkedAt: undefined,
  now: 1_000,
  graceMs: 500,
};

it.each<[string, Partial<SwitchInput>, string]>([
  ['marked and empty', {}, 'hold'],
  ['marked, and a pod is ready', { hasReadyEndpoint: true, isHeld: true }, 'serve'],
  ['empty and never asleep', { isMarked: false }, 'serve'],
  ['the mark has just gone', { isMarked: false, isHeld: true, unmarkedAt: 1_000 }, 'hold-until'],
  ['the mark went too long ago', { isMarked: false, isHeld: true, unmarkedAt: 500 }, 'serve'],
  ['put to sleep again while waking', { isHeld: true }, 'hold'],
])('%s: %s', (_, change, kind) => {
  expect(decideSwitch({ ...base, ...change }).kind).toBe(kind);
});
