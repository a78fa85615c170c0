import { expect, test } from 'vitest';
import { CausewayError } from '../error/causeway-error.ts';
import { createLog } from './logger.ts';

function capture(format: 'json' | 'text') {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, log: createLog({ level: 'info', format, destination }) };
}

test('adds the fields of child loggers, and drops lower levels', () => {
  const { lines, log } = capture('json');
  const child = log.child({ controller: 'service' }).child({ key: 'default/web' });
  child.debug({}, 'dropped');
  child.info({ step: 2 }, 'mapped');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      level: 'info',
      controller: 'service',
      key: 'default/web',
      step: 2,
      msg: 'mapped',
    }),
  ]);
});

test('removes secrets at every depth', () => {
  const { lines, log } = capture('json');
  log.info(
    { password: 'hunter2', auth: { token: 'hunter2', deep: { secret: 'hunter2' } } },
    'login',
  );
  log.child({ authorization: 'hunter2' }).error({}, 'no');
  expect(lines.join('')).not.toContain('hunter2');
  expect(lines.join('')).toContain('(secret)');
});

test('logs errors with code, hint and causes, but without the fields of foreign errors', () => {
  const { lines, log } = capture('json');
  const foreign = Object.assign(new Error('refused'), { headers: { 'x-auth': 'hunter2' } });
  const error = new CausewayError('unavailable', 'no agent', { cause: foreign, hint: 'Start it.' });
  log.warn({ error }, 'push failed');
  const logged = JSON.parse(lines[0] ?? '') as { error: object };
  expect(logged.error).toMatchObject({
    code: 'unavailable',
    message: 'no agent',
    hint: 'Start it.',
    cause: { message: 'refused' },
  });
  expect(lines[0]).not.toContain('hunter2');
});

test('writes text as one readable line', () => {
  const { lines, log } = capture('text');
  log.info({ key: 'default/web', reason: 'no address left' }, 'waiting');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} info {2}waiting {2}key=default\/web reason="no address left"\n$/,
  );
});

test('escapes control characters in text', () => {
  const { lines, log } = capture('text');
  log.warn({ project: 'a\u009b2J' }, 'reading project x\n\u001b[2Jforged');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('reading project x\\u000a\\u001b[2Jforged');
  expect(lines[0]).toContain('\\u009b2J');
});
