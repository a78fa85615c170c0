import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import tls from 'node:tls';
import { describe, expect, test } from 'vitest';
import { listen } from '@causeway/base/network/listen';
import { createAuthority } from './authority.ts';

const wallTime = Date.now();
const authority = createAuthority('causeway-sandbox', wallTime);
const server = authority.issue({
  commonName: 'apiserver',
  hosts: ['localhost', 'kubernetes.default.svc', '127.0.0.1', '::1'],
});
const client = authority.issue({ commonName: 'admin', organizations: ['system:masters'] });

describe('createAuthority', () => {
  test('signs certificates that verify and contain their subject', () => {
    const root = new X509Certificate(authority.certificate);
    const leaf = new X509Certificate(server.certificate);
    expect(root.ca).toBe(true);
    expect(root.verify(root.publicKey)).toBe(true);
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.ca).toBe(false);
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf.checkHost('kubernetes.default.svc')).toBe('kubernetes.default.svc');
    expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(leaf.checkIP('::1')).toBe('::1');
    expect(leaf.checkIP('127.0.0.2')).toBeUndefined();
    expect(new X509Certificate(client.certificate).subject).toBe('O=system:masters\nCN=admin');
    expect(new X509Certificate(server.certificate).serialNumber).not.toBe(root.serialNumber);
  });

  test('creates certificates that both sides of a TLS connection accept', async () => {
    const listener = tls.createServer({
      cert: server.certificate,
      key: server.key,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const port = await listen(listener);
    const accepted = once(listener, 'secureConnection');
    const socket = tls.connect({
      port,
      host: '127.0.0.1',
      ca: authority.certificate,
      cert: client.certificate,
      key: client.key,
    });
    await once(socket, 'secureConnect');
    const [peer] = (await accepted) as [tls.TLSSocket];
    expect(peer.getPeerCertificate().subject).toEqual({ O: 'system:masters', CN: 'admin' });
    socket.destroy();
    listener.close();
    await once(listener, 'close');
  });
});
