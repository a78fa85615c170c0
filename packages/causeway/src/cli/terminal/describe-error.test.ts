import { expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { describeError } from './describe-error.ts';

test('keeps line breaks, and removes terminal controls of external texts', () => {
  const error = new CausewayError('invalid', 'settings:\n  a is wrong: \u001b[2J', {
    hint: 'Ask \u009b31m.',
  });
  expect(describeError(error)).toBe(
    'causeway: settings:\n  a is wrong: \\u001b[2J\n  Ask \\u009b31m.\n',
  );
});
