import { expect, test } from 'vitest';
import { serviceAnnotations } from '../packages/causeway/src/services/known-annotations.ts';
import { marks } from './reference-annotations.ts';

const prefix = 'causeway.dev/';

test('the controller knows exactly the annotations of the reference for Services', () => {
  const listed = Object.entries(marks)
    .filter(([name, { on, meaning }]) => {
      const isOnService = on === 'Service' || on === 'discovered object';
      return name.startsWith(prefix) && isOnService && !meaning.startsWith('label: ');
    })
    .map(([name]) => name.slice(prefix.length));
  expect([...serviceAnnotations].sort()).toEqual(listed.sort());
});
