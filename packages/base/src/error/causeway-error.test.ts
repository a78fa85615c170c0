import { expect, test } from 'vitest';
import { CausewayError, isErrorCode } from './causeway-error.ts';

test('converts every thrown value to a CausewayError with its cause', () => {
  const ours = new CausewayError('conflict', 'changed in the meantime', { hint: 'Read it again.' });
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

test('recognizes codes of CausewayErrors only', () => {
  expect(isErrorCode(new CausewayError('gone', ''), 'gone')).toBe(true);
  expect(isErrorCode(Object.assign(new Error(''), { code: 'gone' }), 'gone')).toBe(false);
});
