import { expect, test } from 'vitest';
import { canInstall } from './launch.js';

test.each([
  ['18.20.0', false],
  ['20.18.3', false],
  ['20.19.0', true],
  ['21.7.3', false],
  ['22.11.0', false],
  ['22.12.0', true],
  ['23.0.0', true],
  ['26.10.0', true],
])('npm under Node %s installs everything: %s', (version, can) => {
  expect(canInstall(version)).toBe(can);
});
