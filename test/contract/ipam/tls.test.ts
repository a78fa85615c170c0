import { X509Certificate } from 'node:crypto';
import fs from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { issueCertificate, makeAuthority } from '../../services/certificates.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { never, startServer, type ServerUnderTest } from './server-under-test.ts';

const params = { site: 'edge', cluster: 'blue' };
let directory = '';
let server: ServerUnderTest;
let operator: IpamClient;
const clients: IpamClient[] = [];
const pem: Record<string, { certificate: string; key: string }> = {};

const connect = (certificate?: string, token?: string) => {
  const client = new IpamClient({
    urls: [server.replica.url],
    tls: { ca: pem['ca']?.certificate, ...(certificate === undefined ? {} : pem[certificate]) },
    token: token === undefined ? undefined : () => Promise.resolve(token),
    clock: systemClock,
  });
  clients.push(client);
  return client;
};
const fingerprint = (name: string) =>
  new X509Certificate(pem[name]?.certificate ?? '').fingerprint256
    .replaceAll(':', '')
    .toLowerCase();

beforeAll(async () => {
  directory = await scratchDirectory('ipam-tls');
  const authority = await makeAuthority(directory);
  await fs.mkdir(`${directory}/foreign`);
  const foreign = await makeAuthority(`${directory}/foreign`);
  const issue = (name: string, by = authority) =>
    issueCertificate(directory, by, name, `/CN=${name}`, 'IP:127.0.0.1');
  const files = {
    ca: authority,
    server: await issue('server'),
    blue: await issue('blue'),
    unknown: await issue('unknown'),
    foreign: await issue('foreign-blue', foreign),
  };
  for (const [name, { certificate, key }] of Object.entries(files)) {
    pem[name] = {
      certificate: await fs.readFile(certificate, 'utf8'),
      key: await fs.readFile(key, 'utf8'),
    };
  }
  const own = pem['server'] ?? { certificate: '', key: '' };
  server = await startServer({ tls: { ...own, clientAuthority: pem['ca']?.certificate } });
  operator = connect(undefined, server.operatorToken);
  await operator.call('setSite', { params: { site: 'edge' }, body: {} }, never);
  await operator.call(
    'createCluster',
    { params: { site: 'edge' }, body: { cluster: 'blue' } },
    never,
  );
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
  await removeDirectory(directory);
});

describe('client certificates', () => {
  test('are valid once they are registered for a cluster, and no longer when revoked', async () => {
    const blue = connect('blue');
    const beat = () => blue.call('heartbeat', { params }, never);
    await expect(beat()).rejects.toMatchObject({ code: 'unauthorized' });
    const body = { certificate: fingerprint('blue') };
    const { credential, token } = await operator.call(
      'issueClusterCredential',
      { params, body },
      never,
    );
    expect(token).toBeUndefined();
    expect(await beat()).toMatchObject({ addresses: 0 });
    await expect(blue.call('listSites', { params: {} }, never)).rejects.toMatchObject({
      code: 'forbidden',
    });
    await operator.call('revokeCredential', { params: { id: credential.id } }, never);
    await expect(beat()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('of another authority are rejected, even if their fingerprint was registered', async () => {
    const body = { certificate: fingerprint('foreign') };
    await operator.call('issueClusterCredential', { params, body }, never);
    await expect(connect('foreign').call('heartbeat', { params }, never)).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  test('rejects a server with an unknown authority', async () => {
    const trusting = new IpamClient({
      urls: [server.replica.url],
      token: () => Promise.resolve(server.operatorToken),
      clock: systemClock,
    });
    clients.push(trusting);
    await expect(trusting.call('listSites', { params: {} }, never)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
