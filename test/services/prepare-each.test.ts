import { expect, test } from 'vitest';
import { MissingError } from './missing.ts';
import { prepareEach } from './prepare-each.ts';

test('a program that a later step builds is not missing', async () => {
  let isBuilt = false;
  const program = async () => {
    if (!isBuilt) throw new MissingError('kube-apiserver could not be built');
  };
  const cluster = async () => {
    isBuilt = true;
  };
  expect(await prepareEach([program, cluster])).toEqual([]);
});

test('a step that fails twice is missing, and the others still run', async () => {
  const done: string[] = [];
  const step = (name: string) => async () => {
    done.push(name);
    if (name === 'b') throw new MissingError('b is missing');
  };
  expect(await prepareEach(['a', 'b', 'c'].map(step))).toEqual(['b is missing']);
  expect(done).toEqual(['a', 'b', 'c', 'b']);
});

test('an error of another kind ends the preparation', async () => {
  const broken = async () => {
    throw new TypeError('a mistake in a step');
  };
  await expect(prepareEach([broken])).rejects.toThrow('a mistake in a step');
});
