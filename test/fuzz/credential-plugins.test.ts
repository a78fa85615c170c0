import http from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Credentials } from '../../packages/kubernetes/src/credentials/credentials.ts';
import {
  ExecCredentialSource,
  readExecAnswer,
  type ExecPlugin,
} from '../../packages/kubernetes/src/credentials/exec-credentials.ts';
import { HttpTransport } from '../../packages/kubernetes/src/client/http-transport.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { listen } from '../../packages/base/src/network/listen.ts';
import { attempt, hostileJson, hostileText, nearly } from './hostile.ts';

const apiVersion = 'client.authentication.k8s.io/v1';
const secret = 'the-token-of-somebody';
const plugin: ExecPlugin = { apiVersion, command: 'plug-in', args: [], env: {} };
const valid = {
  kind: 'ExecCredential',
  apiVersion,
  status: { token: secret, expirationTimestamp: '2026-01-01T00:00:00Z' },
};
const { signal } = new AbortController();

test('the output of a credential plug-in is valid credentials, or is rejected without being repeated', () => {
  const token = hostileText.map((text) => ({ ...valid, status: { token: text } }));
  const printed = fc.oneof(
    hostileText,
    fc.oneof(hostileJson, nearly(valid), token).map((value) => JSON.stringify(value) ?? ''),
  );
  fc.assert(
    fc.property(printed, (text) => {
      const read = attempt(() => {
        try {
          return readExecAnswer(plugin, text);
        } catch (error) {
          expect(String(error)).not.toContain(secret);
          throw error;
        }
      });
      if (read === undefined) return;
      const { credentials, expires } = read;
      http.validateHeaderValue('authorization', String(credentials.headers['authorization'] ?? ''));
      expect(expires === undefined || Number.isFinite(expires)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  [
    'prints without end',
    'const print = () => process.stdout.write("x".repeat(65536), print); print()',
  ],
  ['prints nothing', ''],
  ['prints binary data', 'process.stdout.write(Buffer.from([0xff, 0xfe, 0, 1]))'],
  ['kills itself', 'process.kill(process.pid, "SIGKILL")'],
  ['prints an error with control characters', 'console.error("\\u001b[2J"); process.exit(3)'],
])('rejects a credential plug-in that %s', async (_name, program) => {
  const source = new ExecCredentialSource(
    { ...plugin, command: process.execPath, args: ['-e', program] },
    systemClock,
  );
  await expect(source.current(signal)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('an invalid client certificate fails the request, not the process', async () => {
  const server = http.createServer((_, response) => response.end('{}'));
  const port = await listen(server);
  const pieces = fc.oneof(
    hostileText,
    hostileText.map((text) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`),
  );
  try {
    await fc.assert(
      fc.asyncProperty(pieces, pieces, async (certificate, key) => {
        const credentials: Credentials = { headers: {}, clientCertificate: { certificate, key } };
        const transport = new HttpTransport(
          {
            server: `https://127.0.0.1:${port}`,
            insecureSkipTlsVerify: true,
            credentials: { current: () => Promise.resolve(credentials), refused: () => {} },
            namespace: 'default',
            origin: 'a test',
          },
          systemClock,
        );
        const get = { method: 'GET', path: '/version', headers: {}, isLong: false } as const;
        await expect(transport.send(get, signal)).rejects.toThrow();
        await expect(transport.send({ ...get, isLong: true }, signal)).rejects.toThrow();
        await transport.close();
      }),
      { numRuns: 60 },
    );
  } finally {
    server.close();
  }
});
