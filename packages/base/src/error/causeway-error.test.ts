import { expect, test } from 'vitest';
import { CausewayError, isErrorCode } from './causeway-error.ts';

test('whatever was thrown becomes one kind of error, with its cause', () => {
  const ours = new CausewayError('conflict', 'changed meanwhile', { hint: 'Read it again.' });
  expect(CausewayError.from(ours)).toBe(ours);
  const foreign = new TypeError('bad');
  expect(CausewayError.from(foreign)).toMatchObject({
    code: 'internal',
    message: 'bad',
    cause: foreign,
  });
  expect(CausewayError.from('text')).toMatchObject({ code: 'internal', message: 'text' });
  expect(CausewayError.from(new DOMException('stop', 'AbortError')).code).toBe('aborted');
  expect(CausewayError.from(new DOMException('late', 'TimeoutError')).code).toBe('timeout');
});

test('codes are recognised on our errors only', () => {
  expect(isErrorCode(new CausewayError('gone', ''), 'gone')).toBe(true);
  expect(isErrorCode(Object.assign(new Error(''), { code: 'gone' }), 'gone')).toBe(false);
});
