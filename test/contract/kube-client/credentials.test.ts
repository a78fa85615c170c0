import fs from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import {
  findConnection,
  type Connection,
} from '../../../packages/kubernetes/src/client/connection.ts';
import { MaterialCredentialSource } from '../../../packages/kubernetes/src/credentials/credentials.ts';
import { ExecCredentialSource } from '../../../packages/kubernetes/src/credentials/exec-credentials.ts';
import { inClusterConnection } from '../../../packages/kubernetes/src/credentials/in-cluster.ts';
import { namespaces } from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { listen } from '../../../packages/base/src/network/listen.ts';
import {
  prepareKubernetes,
  startKubernetes,
  type RealKubernetes,
} from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { clientFor, connectionTo } from './cluster.ts';

const available = await isAvailable(() => prepareKubernetes());

describe.skipIf(!available)('connections to a real kube-apiserver', () => {
  let cluster: RealKubernetes;
  beforeAll(async () => {
    cluster = await startKubernetes();
  });
  afterAll(() => cluster?.stop());

  const clients: KubeClient[] = [];
  afterAll(() => Promise.all(clients.map((client) => client.close())));
  function use(connection: Connection): KubeClient {
    const client = clientFor(connection);
    clients.push(client);
    return client;
  }
  async function works(connection: Connection): Promise<boolean> {
    const found = await use(connection).get(namespaces, { name: 'default' });
    return found.metadata?.name === 'default';
  }
  const anonymous = new MaterialCredentialSource({}, systemClock);

  it('with the token of a kubeconfig', async () => {
    expect(await works(await connectionTo(cluster))).toBe(true);
  });

  it('with a client certificate from files and from data', async () => {
    const { certificate, key } = cluster.adminCertificate;
    const user = {
      files: `client-certificate: ${certificate}, client-key: ${key}`,
      data: `client-certificate-data: ${await base64(certificate)}, client-key-data: ${await base64(key)}`,
    };
    for (const [name, text] of Object.entries(user)) {
      const kubeconfig = path.join(cluster.directory, `by-certificate-${name}`);
      await fs.writeFile(
        kubeconfig,
        `
current-context: c
clusters: [{name: c, cluster: {server: "${cluster.url}", certificate-authority: "${cluster.authority.certificate}"}}]
users: [{name: c, user: {${text}}}]
contexts: [{name: c, context: {cluster: c, user: c}}]`,
      );
      expect(await works(await findConnection({ kubeconfig, env: {}, clock: systemClock }))).toBe(
        true,
      );
    }
  });

  it('with a plug-in that returns a client certificate', async () => {
    const { certificate, key } = cluster.adminCertificate;
    const apiVersion = 'client.authentication.k8s.io/v1';
    const status = {
      clientCertificateData: await fs.readFile(certificate, 'utf8'),
      clientKeyData: await fs.readFile(key, 'utf8'),
    };
    const answerFile = path.join(cluster.directory, 'exec-answer.json');
    await fs.writeFile(answerFile, JSON.stringify({ apiVersion, kind: 'ExecCredential', status }));
    const plugin = { apiVersion, command: 'cat', args: [answerFile], env: {} };
    const credentials = new ExecCredentialSource(plugin, systemClock);
    expect(await works(await connectionTo(cluster, { credentials }))).toBe(true);
  });

  it('from inside a pod, with a rotated token', async () => {
    const directory = path.join(cluster.directory, 'service-account');
    await fs.mkdir(directory);
    await fs.copyFile(cluster.authority.certificate, path.join(directory, 'ca.crt'));
    await fs.writeFile(path.join(directory, 'token'), 'an-expired-token');
    const { hostname, port } = new URL(cluster.url);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const connection = await inClusterConnection(env, systemClock, directory);
    if (connection === undefined) throw new Error('not in a cluster');
    const client = use(connection);
    await expect(client.get(namespaces, { name: 'default' })).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await fs.writeFile(path.join(directory, 'token'), cluster.token);
    expect((await client.get(namespaces, { name: 'default' })).metadata?.name).toBe('default');
  });

  it('through a proxy', async () => {
    const tunnels: (string | undefined)[] = [];
    const proxy = http.createServer();
    proxy.on('connect', (request, socket: net.Socket) => {
      tunnels.push(request.url);
      const { hostname, port } = new URL(cluster.url);
      const upstream = net.connect({ host: hostname, port: Number(port) }, () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      socket.on('error', () => upstream.destroy());
      upstream.on('error', () => socket.destroy());
    });
    const port = await listen(proxy);
    const proxyUrl = `http://127.0.0.1:${port}`;
    const client = clientFor(await connectionTo(cluster, { proxyUrl }));
    expect((await client.get(namespaces, { name: 'default' })).metadata?.name).toBe('default');
    expect(tunnels).toEqual([new URL(cluster.url).host]);
    await client.close();
    await new Promise<void>((resolve) => proxy.close(() => resolve()));
  });

  it('with another name in the certificate', async () => {
    const server = cluster.url.replace('127.0.0.1', 'localhost');
    expect(await works(await connectionTo(cluster, { server }))).toBe(true);
    const tlsServerName = 'kubernetes.default.svc';
    expect(await works(await connectionTo(cluster, { tlsServerName }))).toBe(true);
    const wrong = use(await connectionTo(cluster, { tlsServerName: 'elsewhere.example' }));
    await expect(
      wrong.get(namespaces, { name: 'default' }, { retries: false }),
    ).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('altnames') });
  });

  it('not without its authority, unless the check is skipped', async () => {
    const certificateAuthority = undefined;
    const untrusting = use(await connectionTo(cluster, { certificateAuthority }));
    await expect(
      untrusting.get(namespaces, { name: 'default' }, { retries: false }),
    ).rejects.toMatchObject({ code: 'unavailable' });
    const insecureSkipTlsVerify = true;
    expect(
      await works(await connectionTo(cluster, { certificateAuthority, insecureSkipTlsVerify })),
    ).toBe(true);
  });

  it('not without credentials', async () => {
    const client = use(await connectionTo(cluster, { credentials: anonymous }));
    await expect(client.get(namespaces, { name: 'default' })).rejects.toMatchObject({
      code: 'forbidden',
      hint: expect.stringContaining('ClusterRole'),
    });
  });
});

async function base64(file: string): Promise<string> {
  return (await fs.readFile(file)).toString('base64');
}
