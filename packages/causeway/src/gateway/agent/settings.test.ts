import { expect, test } from 'vitest';
import { agentSettings } from './settings.ts';

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
