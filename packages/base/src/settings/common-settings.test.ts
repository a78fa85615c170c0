import { expect, test } from 'vitest';
import { listenPort, logSettings, observeSettings } from './common-settings.ts';

test('fills in the defaults of missing blocks', () => {
  expect(logSettings.parse(undefined)).toEqual({ level: 'info', format: 'json' });
  expect(observeSettings(15_203).parse(undefined)).toEqual({ address: '127.0.0.1', port: 15_203 });
});

test.each([-1, 65_536, 1.5])('rejects the listen port %d', (port) => {
  expect(listenPort.safeParse(port).success).toBe(false);
});
