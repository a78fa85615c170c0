import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createLog } from './logger.ts';

test('a full disk loses lines, and the next line that can be written says how many', () => {
  const lines: string[] = [];
  let isFull = false;
  const destination = {
    write: (line: string) => {
      if (isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      lines.push(line);
    },
  };
  const log = createLog({ level: 'info', format: 'text', destination });
  log.info({}, 'before');
  isFull = true;
  log.info({}, 'lost');
  log.info({}, 'lost too');
  isFull = false;
  log.info({}, 'after');
  expect(lines).toEqual([
    expect.stringContaining('before'),
    '2 lines of the log were lost\n',
    expect.stringContaining('after'),
  ]);
});

test('an error event of the destination does not end the process', () => {
  const destination = new PassThrough();
  createLog({ level: 'info', format: 'json', destination });
  expect(() => destination.emit('error', new Error('broken pipe'))).not.toThrow();
});
