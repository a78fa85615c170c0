import { expect, it } from 'vitest';
import { decideSwitch, type SwitchInput } from './decide-switch.ts';

const base: SwitchInput = {
  isMarked: true,
  isReady: false,
  unmarkedAt: undefined,
  now: 1_000,
  graceMs: 500,
};

it.each<[string, Partial<SwitchInput>, string]>([
  ['idle and empty', {}, 'hold'],
  ['idle, and a pod is ready', { isReady: true }, 'serve'],
  ['empty and never idle', { isMarked: false }, 'serve'],
  ['the annotation was just removed', { isMarked: false, unmarkedAt: 1_000 }, 'hold-until'],
  ['the annotation was removed too long ago', { isMarked: false, unmarkedAt: 500 }, 'serve'],
  [
    'the annotation was removed, and a pod is ready',
    { isMarked: false, isReady: true, unmarkedAt: 900 },
    'serve',
  ],
])('%s: %s', (_, change, kind) => {
  expect(decideSwitch({ ...base, ...change }).kind).toBe(kind);
});
