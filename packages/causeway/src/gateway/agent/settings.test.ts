import { expect, test } from 'vitest';
import { agentSettings, keepalivedSettings, vrrpFilter } from './settings.ts';

const network = { interface: 'int', virtualRouterId: 52, address4: '10.78.0.11' };

test.each([
  ['one', { internal: { ...network, routes: ['10.78.0.1'] } }, []],
  ['one', { v1: { masquerade: 'needed' } }, []],
  ['several', { internal: network }, []],
  ['several', { internal: { ...network, routes: ['10.78.0.1'] } }, ['internal.routes']],
  ['several', { v1: { masquerade: 'needed' } }, ['v1.masquerade']],
])('accepts or rejects settings with %s active groups: %j', (groups, rest, wrong) => {
  const parsed = agentSettings.safeParse({ name: 'g1', addresses: { groups }, ...rest });
  expect(parsed.error?.issues.map(({ path }) => path.join('.')) ?? []).toEqual(wrong);
});

const certificateFile = '/etc/causeway/agent.crt';
const keyFile = '/etc/causeway/agent.key';
const clientAuthorityFile = '/etc/causeway/clients.crt';

test.each([
  [{}, true],
  [{ certificateFile, keyFile }, true],
  [{ certificateFile, keyFile, clientAuthorityFile }, true],
  [{ certificateFile }, false],
  [{ keyFile }, false],
  [{ clientAuthorityFile }, false],
  [{ certificateFile, clientAuthorityFile }, false],
])('requires complete TLS settings: %j', (tls, isTaken) => {
  expect(agentSettings.safeParse({ name: 'g1', tls }).success).toBe(isTaken);
});

test('accepts VRRP on each interface from the peers of all networks that use it', () => {
  const external = { interface: 'ext', virtualRouterId: 51, address4: '10.77.0.11' };
  const peers = { peers4: ['10.77.0.12'], address6: 'fd00::11', peers6: ['fd00::12'] };
  const filter = (internal: object) => {
    const settings = agentSettings.parse({
      name: 'g1',
      external: { ...external, ...peers },
      internal,
    });
    return vrrpFilter(keepalivedSettings(settings));
  };
  expect(filter({ ...network, peers4: ['10.78.0.12'] })).toEqual({
    links: [
      { interface: 'ext', peers: ['10.77.0.12', 'fd00::12'] },
      { interface: 'int', peers: ['10.78.0.12'] },
    ],
    routerIds: [51, 52],
  });
  expect(filter({ ...network, interface: 'ext', peers4: ['10.78.0.12'] })).toEqual({
    links: [{ interface: 'ext', peers: ['10.77.0.12', 'fd00::12', '10.78.0.12'] }],
    routerIds: [51, 52],
  });
});
