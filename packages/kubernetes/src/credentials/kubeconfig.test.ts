import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { findConnection } from '../client/connection.ts';
import type { Connection } from '../client/connection.ts';

let directory = '';
beforeAll(async () => (directory = await fs.mkdtemp(path.join(os.tmpdir(), 'kubeconfig-'))));
afterAll(() => fs.rm(directory, { recursive: true }));

let count = 0;
async function write(text: string, name = `config-${++count}`): Promise<string> {
  const file = path.join(directory, name);
  await fs.writeFile(file, text);
  return file;
}

const clock = systemClock;
const from = (kubeconfig: string, context?: string, env: Record<string, string> = {}) =>
  findConnection({ kubeconfig, context, env, clock });
const present = (connection: Connection) =>
  connection.credentials.current(new AbortController().signal);

const twoContexts = `
apiVersion: v1
kind: Config
current-context: one
preferences: {}
clusters:
- {name: a, cluster: {server: "https://192.0.2.1:6443/", certificate-authority-data: ${btoa('CA')}, tls-server-name: api}}
- {name: b, cluster: {server: "https://b.example", certificate-authority: ca.pem, insecure-skip-tls-verify: true, proxy-url: "socks5://p:1"}}
users:
- {name: token, user: {token: secret}}
- {name: cert, user: {client-certificate: cert.pem, client-key-data: ${btoa('KEY')}}}
- {name: basic, user: {username: u, password: p, as: other, as-groups: [g, h]}}
- {name: nobody}
contexts:
- {name: one, context: {cluster: a, user: token, namespace: team}}
- {name: two, context: {cluster: b, user: cert}}
- {name: three, context: {cluster: b, user: basic}}
- {name: four, context: {cluster: b, user: nobody}}
- {name: broken, context: {cluster: nowhere, user: token}}
`;

describe('kubeconfig', () => {
  it('resolves the current context', async () => {
    const connection = await from(await write(twoContexts));
    expect(connection).toMatchObject({
      server: 'https://192.0.2.1:6443',
      certificateAuthority: { text: 'CA' },
      insecureSkipTlsVerify: false,
      tlsServerName: 'api',
      proxyUrl: undefined,
      namespace: 'team',
    });
    expect(await present(connection)).toEqual({ headers: { authorization: 'Bearer secret' } });
  });

  it('resolves a named context, with files beside the configuration', async () => {
    await write('CERT', 'cert.pem');
    const connection = await from(await write(twoContexts), 'two');
    expect(connection).toMatchObject({
      server: 'https://b.example',
      certificateAuthority: { file: path.join(directory, 'ca.pem') },
      insecureSkipTlsVerify: true,
      proxyUrl: 'socks5://p:1',
      namespace: 'default',
    });
    expect(await present(connection)).toEqual({
      headers: {},
      clientCertificate: { certificate: 'CERT', key: 'KEY' },
    });
  });

  it('supports basic authentication, impersonation and users without credentials', async () => {
    const file = await write(twoContexts);
    expect(await present(await from(file, 'three'))).toEqual({
      headers: {
        authorization: `Basic ${btoa('u:p')}`,
        'impersonate-user': 'other',
        'impersonate-group': ['g', 'h'],
      },
    });
    expect(await present(await from(file, 'four'))).toEqual({ headers: {} });
  });

  it('merges several files, the first definition of a name wins', async () => {
    const first = await write('current-context: one\nusers: [{name: token, user: {token: first}}]');
    const second = await write(twoContexts);
    const env = { KUBECONFIG: [first, path.join(directory, 'missing'), second].join(':') };
    const connection = await findConnection({ env, clock });
    expect(connection.server).toBe('https://192.0.2.1:6443');
    expect(await present(connection)).toEqual({ headers: { authorization: 'Bearer first' } });
  });

  it('uses the proxy of the environment if the file has none', async () => {
    const file = await write(twoContexts);
    const env = { HTTPS_PROXY: 'http://proxy:3128' };
    expect((await from(file, 'one', env)).proxyUrl).toBe('http://proxy:3128');
    expect((await from(file, 'two', env)).proxyUrl).toBe('socks5://p:1');
  });

  it.each([
    ['a missing context', 'six', twoContexts, /has no context named six/],
    ['a missing cluster', 'broken', twoContexts, /has no cluster named nowhere/],
    ['no current context', undefined, 'clusters: []', /has no current context/],
    ['text that is not YAML', undefined, 'token: "secret', /is not YAML$/],
    [
      'an invalid field',
      undefined,
      'clusters: [{name: a, cluster: {}}]',
      /wrong at clusters.0.cluster.server/,
    ],
  ])('reports %s', async (_, context, text, message) => {
    await expect(from(await write(text), context)).rejects.toThrow(message);
  });

  it('lists the existing contexts', async () => {
    await expect(from(await write(twoContexts), 'six')).rejects.toMatchObject({
      code: 'invalid',
      hint: 'Check the name; there are one, two, three, four, broken.',
    });
  });

  it.each([
    ['{auth-provider: {name: gcp}}', 'unsupported'],
    ['{client-certificate-data: QQ==}', 'invalid'],
    ['{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}', 'unsupported'],
    [
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}}',
      'unsupported',
    ],
  ])('rejects the user %s', async (user, code) => {
    const text = `
current-context: c
clusters: [{name: c, cluster: {server: "https://a"}}]
users: [{name: c, user: ${user}}]
contexts: [{name: c, context: {cluster: c, user: c}}]`;
    await expect(from(await write(text))).rejects.toMatchObject({ code });
  });

  it('rejects a server that is not a URL', async () => {
    const text = `
current-context: c
clusters: [{name: c, cluster: {server: "ftp://a"}}]
contexts: [{name: c, context: {cluster: c}}]`;
    await expect(from(await write(text))).rejects.toThrow('not an http or https address');
  });
});

describe('findConnection', () => {
  it('prefers the service account of the pod to the home directory', async () => {
    const env = {
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      KUBERNETES_SERVICE_PORT: '443',
      HOME: '/x',
    };
    expect((await findConnection({ env, clock })).server).toBe('https://10.96.0.1:443');
  });

  it('gives a hint when nothing is configured', async () => {
    await expect(findConnection({ env: { HOME: directory }, clock })).rejects.toMatchObject({
      code: 'not-found',
      message: 'no Kubernetes cluster is configured',
    });
  });

  it('reads the file in the home directory', async () => {
    await fs.mkdir(path.join(directory, '.kube'));
    await write(twoContexts, '.kube/config');
    const connection = await findConnection({ env: { HOME: directory }, clock });
    expect(connection.namespace).toBe('team');
  });
});
