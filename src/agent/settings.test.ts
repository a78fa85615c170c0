import { expect, test } from 'vitest';
import { agentSettings } from './settings.ts';

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
])('TLS is configured as a whole or not at all: %j', (tls, isTaken) => {
  expect(agentSettings.safeParse({ name: 'g1', tls }).success).toBe(isTaken);
});
