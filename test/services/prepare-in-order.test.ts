import { expect, test } from 'vitest';
import { MissingError } from './missing.ts';
import { prepareInOrder, type Step } from './prepare-in-order.ts';

/** Steps that record their runs, and fail this many times. */
function stepsFor(done: string[]) {
  const failures = new Map<string, number>();
  return (name: string, timesFailing = 0): Step => ({
    name,
    run: async () => {
      done.push(name);
      const failed = failures.get(name) ?? 0;
      failures.set(name, failed + 1);
      if (failed < timesFailing) throw new MissingError(`${name} is missing`);
    },
  });
}

test('a step that fails once is repeated, and is not missing', async () => {
  const done: string[] = [];
  const step = stepsFor(done);
  const groups = [{ name: 'kernel', steps: [step('apiserver', 1), step('etcd')] }];
  expect(await prepareInOrder(groups).missing).toEqual([]);
  expect(done).toEqual(['apiserver', 'etcd', 'apiserver']);
});

test('a step that a later group completes is not missing', async () => {
  const step = stepsFor([]);
  const apiserver = step('apiserver', 2);
  const groups = [
    { name: 'kernel', steps: [apiserver] },
    { name: 'cluster', steps: [apiserver] },
  ];
  expect(await prepareInOrder(groups).missing).toEqual([]);
});

test('a step that always fails is missing, and the others still run once', async () => {
  const done: string[] = [];
  const step = stepsFor(done);
  const groups = [
    { name: 'kernel', steps: [step('apiserver', 100), step('etcd')] },
    { name: 'cloud', steps: [step('etcd'), step('openstack')] },
  ];
  expect(await prepareInOrder(groups).missing).toEqual(['apiserver is missing']);
  expect(done).toEqual(['apiserver', 'etcd', 'apiserver', 'openstack']);
});

test('a group is ready before the steps of later groups end', async () => {
  const never = new Promise(() => {});
  const { ready } = prepareInOrder([
    { name: 'kernel', steps: [stepsFor([])('etcd')] },
    { name: 'cluster', steps: [{ name: 'image', run: () => never }] },
  ]);
  await ready.get('kernel');
});

test('an error of another kind ends the preparation', async () => {
  const run = async () => {
    throw new TypeError('a mistake in a step');
  };
  const { ready, missing } = prepareInOrder([{ name: 'kernel', steps: [{ name: 'etcd', run }] }]);
  await expect(missing).rejects.toThrow('a mistake in a step');
  await expect(ready.get('kernel')).rejects.toThrow('a mistake in a step');
});
