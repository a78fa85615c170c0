import { expect, it } from 'vitest';
import { openTogether } from './open-together.ts';

it('keeps everything open after success, and returns it', () => {
  const closed: string[] = [];
  const close = (name: string) => void closed.push(name);
  const opened = openTogether((keep) => [keep('a', close), keep('b', close)]);
  expect(opened).toEqual(['a', 'b']);
  expect(closed).toEqual([]);
});

it('closes everything in reverse order if one fails', () => {
  const closed: string[] = [];
  const close = (name: string) => void closed.push(name);
  const fails = () =>
    openTogether((keep) => {
      keep('a', close);
      keep('b', close);
      throw new Error('no third');
    });
  expect(fails).toThrow('no third');
  expect(closed).toEqual(['b', 'a']);
});
