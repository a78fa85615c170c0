import { expect, it } from 'vitest';
import { openTogether } from './open-together.ts';

it('leaves open what opens, and answers with it', () => {
  const closed: string[] = [];
  const close = (name: string) => void closed.push(name);
  const opened = openTogether((keep) => [keep('a', close), keep('b', close)]);
  expect(opened).toEqual(['a', 'b']);
  expect(closed).toEqual([]);
});

it('closes all, last first, when one of them fails', () => {
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
