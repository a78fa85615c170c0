import { expect, test } from 'vitest';
import { listenPort, logSettings, observeSettings } from './common-settings.ts';

test('left out, the blocks have their defaults', () => {
  expect(logSettings.parse(undefined)).toEqual({ level: 'info', format: 'json' });
  expect(observeSettings(15_203).parse(undefined)).toEqual({ address: '127.0.0.1', port: 15_203 });
});

test.each([-1, 65_536, 1.5])('%d is no port to listen on', (port) => {
  expect(listenPort.safeParse(port).success).toBe(false);
});
