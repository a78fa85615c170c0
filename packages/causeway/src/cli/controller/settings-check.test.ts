import { expect, test } from 'vitest';
import { requireUsable, settingsProblems } from './settings-check.ts';
import { controllerSettings } from './settings.ts';

const gateway = { enabled: true, addresses: ['192.0.2.0/28'] };

test.each([
  ['a disabled provider as the default', { defaultProvider: 'pool', gateway }, 'pool.enabled'],
  ['an empty list of addresses', { gateway: { enabled: true } }, 'gateway.addresses is empty'],
  [
    'Neutron without a subnet',
    { gateway: { enabled: true, portManager: 'openstack' } },
    'gateway.subnets names no subnet',
  ],
])('rejects %s at the start', (_what, text, problem) => {
  const settings = controllerSettings.parse(text);
  expect(settingsProblems(settings)).toEqual([expect.stringContaining(problem)]);
  expect(() => requireUsable(settings)).toThrow(problem);
});

test.each([
  ['empty settings', {}],
  ['a disabled provider', { gateway: { portManager: 'openstack' } }],
  ['a list of addresses', { defaultProvider: 'gateway', gateway }],
  ['Neutron', { gateway: { enabled: true, portManager: 'openstack', subnets: ['s'] } }],
])('accepts %s', (_what, text) => {
  expect(settingsProblems(controllerSettings.parse(text))).toEqual([]);
});

test('rejects two gateways with the same name', () => {
  const agents = ['a', 'b', 'a'].map((name) => ({ name, url: 'https://192.0.2.1:15213' }));
  const { error } = controllerSettings.safeParse({ gateway: { agents } });
  expect(error?.issues).toMatchObject([{ path: ['gateway', 'agents'] }]);
  expect(error?.issues[0]?.message).toContain('two gateways have the name a');
});
