import { expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { describeError } from './describe-error.ts';

test('lines stay lines, and what others said steers no terminal', () => {
  const error = new CausewayError('invalid', 'settings:\n  a is wrong: \u001b[2J', {
    hint: 'Ask \u009b31m.',
  });
  expect(describeError(error)).toBe(
    'causeway: settings:\n  a is wrong: \\u001b[2J\n  Ask \\u009b31m.\n',
  );
});
