import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '@causeway/base/time/clock';
import { MaterialCredentialSource } from './credentials.ts';
import { ExecCredentialSource, type ExecPlugin } from './exec-credentials.ts';
import { inClusterConnection } from './in-cluster.ts';

let directory = '';
beforeAll(async () => (directory = await fs.mkdtemp(path.join(os.tmpdir(), 'credentials-'))));
afterAll(() => fs.rm(directory, { recursive: true }));

const { signal } = new AbortController();

function heldClock(): Clock & { now: number } {
  return {
    now: 1_700_000_000_000,
    wallTime() {
      return this.now;
    },
    monotonic() {
      return this.now;
    },
    timer: (delay, callback) => systemClock.timer(delay, callback),
  };
}

describe('tokens in files', () => {
  it('are read again after a while and immediately after a refusal, and survive a missing file', async () => {
    const clock = heldClock();
    const file = path.join(directory, 'token');
    const source = new MaterialCredentialSource({ token: { file } }, clock);
    const authorization = async () => (await source.current()).headers['authorization'];

    await fs.writeFile(file, 'one\n');
    expect(await authorization()).toBe('Bearer one');
    await fs.writeFile(file, 'two\n');
    expect(await authorization()).toBe('Bearer one');
    clock.now += 10_000;
    expect(await authorization()).toBe('Bearer two');
    await fs.writeFile(file, 'three');
    source.refused();
    expect(await authorization()).toBe('Bearer three');
    await fs.rm(file);
    clock.now += 10_000;
    expect(await authorization()).toBe('Bearer three');
    source.refused();
    await expect(authorization()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it("are rejected without being shown if they can't be a header", async () => {
    const source = new MaterialCredentialSource({ token: { text: 'se\ncret' } }, systemClock);
    const error: unknown = await source.current().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'unauthorized' });
    expect(String(error)).not.toContain('cret');
  });
});

describe('inClusterConnection', () => {
  it('exists only inside a pod', async () => {
    expect(await inClusterConnection({}, systemClock)).toBeUndefined();
  });

  it('reads the token of the service account and brackets IPv6', async () => {
    await fs.writeFile(path.join(directory, 'token'), 'pod-token');
    await fs.writeFile(path.join(directory, 'namespace'), 'team');
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const connection = await inClusterConnection(env, systemClock, directory);
    expect(connection).toMatchObject({
      server: 'https://[fd00::1]:443',
      certificateAuthority: { file: path.join(directory, 'ca.crt') },
      namespace: 'team',
    });
    expect(await connection?.credentials.current(signal)).toEqual({
      headers: { authorization: 'Bearer pod-token' },
    });
  });
});

describe('credential plug-ins', () => {
  const apiVersion = 'client.authentication.k8s.io/v1';
  let scripts = 0;
  async function plugin(body: string, more: Partial<ExecPlugin> = {}): Promise<ExecPlugin> {
    const command = path.join(directory, `plugin-${++scripts}`);
    await fs.writeFile(command, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return { apiVersion, command, args: [], env: {}, ...more };
  }
  const answer = (status: object) =>
    `echo '${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}'`;

  it('run once for all waiting callers, and again after a refusal', async () => {
    const runs = path.join(directory, 'runs');
    const body = `echo run >> ${runs}\n${answer({ token: 't' })}`;
    const source = new ExecCredentialSource(await plugin(body), systemClock);
    const answers = await Promise.all([1, 2, 3].map(() => source.current(signal)));
    expect(answers.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer t',
      'Bearer t',
      'Bearer t',
    ]);
    await source.current(signal);
    expect(await fs.readFile(runs, 'utf8')).toBe('run\n');
    source.refused();
    await source.current(signal);
    expect(await fs.readFile(runs, 'utf8')).toBe('run\nrun\n');
  });

  it('run again shortly before their credentials expire', async () => {
    const clock = heldClock();
    const runs = path.join(directory, 'expiring');
    const expirationTimestamp = new Date(clock.now + 60_000).toISOString();
    const body = `echo run >> ${runs}\n${answer({ token: 't', expirationTimestamp })}`;
    const source = new ExecCredentialSource(await plugin(body), clock);
    await source.current(signal);
    clock.now += 49_000;
    await source.current(signal);
    expect(await fs.readFile(runs, 'utf8')).toBe('run\n');
    clock.now += 2_000;
    await source.current(signal);
    expect(await fs.readFile(runs, 'utf8')).toBe('run\nrun\n');
  });

  it('may answer with a client certificate, and receive the request', async () => {
    const received = path.join(directory, 'received');
    const body = `echo "$KUBERNETES_EXEC_INFO $1 $MORE" > ${received}\n${answer({
      clientCertificateData: 'CERT',
      clientKeyData: 'KEY',
    })}`;
    const source = new ExecCredentialSource(
      await plugin(body, { args: ['get'], env: { MORE: 'env' }, cluster: { server: 'https://a' } }),
      systemClock,
    );
    expect(await source.current(signal)).toEqual({
      headers: {},
      clientCertificate: { certificate: 'CERT', key: 'KEY' },
    });
    const [info, ...rest] = (await fs.readFile(received, 'utf8')).trim().split(' ');
    expect(JSON.parse(info ?? '')).toEqual({
      apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://a' } },
    });
    expect(rest).toEqual(['get', 'env']);
  });

  it.each([
    ['print no JSON', 'echo hello', /did not print an ExecCredential/],
    ['print no credentials', answer({}), /did not print an ExecCredential/],
    ['print half a certificate', answer({ clientKeyData: 'KEY' }), /did not print/],
    ['fail', 'echo please log in >&2; exit 3', /failed: please log in/],
    ['fail without output', 'exit 3', /failed: exit code 3/],
  ])('that %s are an error', async (_, body, message) => {
    const source = new ExecCredentialSource(await plugin(body), systemClock);
    await expect(source.current(signal)).rejects.toThrow(message);
    await expect(source.current(signal)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('give an installation hint if they are missing', async () => {
    const missing = {
      apiVersion,
      command: '/no/such',
      args: ['secret'],
      env: {},
      installHint: 'Get it.',
    };
    const source = new ExecCredentialSource(missing, systemClock);
    await expect(source.current(signal)).rejects.toMatchObject({
      message: 'the credential plug-in /no/such failed: no such program',
      hint: 'Get it.',
    });
  });

  it('do not block a caller that aborts', async () => {
    const source = new ExecCredentialSource(await plugin('sleep 5'), systemClock);
    const controller = new AbortController();
    const waiting = source.current(controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  });
});
