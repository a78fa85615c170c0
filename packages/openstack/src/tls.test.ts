import { describe, expect, it } from 'vitest';
import { configFor, tokenAnswer } from '../../../test/openstack/minimal-cloud.ts';
import { startScriptedServer } from '../../../test/openstack/scripted-server.ts';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { createAuthority } from '@causeway/fake-kubernetes/certificates/authority';
import { Cloud } from './cloud.ts';
import type { TlsConfig } from './config/cloud-config.ts';
import { Secret } from './secret.ts';

const call = { signal: new AbortController().signal };
const authority = createAuthority('east', Date.now());
const server = authority.issue({ commonName: 'keystone', hosts: ['127.0.0.1'] });
const client = authority.issue({ commonName: 'causeway' });

async function login(tls: TlsConfig, options: { requestCert?: boolean } = {}) {
  await using keystone = await startScriptedServer(() => tokenAnswer('t'), {
    cert: server.certificate,
    key: server.key,
    ca: authority.certificate,
    ...options,
  });
  const cloud = new Cloud(configFor(keystone.url, { tls }), {
    log: discardLog,
    metrics: noMetrics,
    retry: { attempts: 1, backoff: { baseMs: 1, maxMs: 1, jitter: 0 } },
  });
  try {
    return await cloud.session().authenticate(call);
  } finally {
    await cloud.close();
  }
}

describe('TLS', () => {
  it('trusts only the configured certificate authority', async () => {
    const { certificate: certificateAuthorities } = authority;
    const { projectId } = await login({ verify: true, certificateAuthorities });
    expect(projectId).toBe('p1');
    const failure = await login({ verify: true }).catch((e: unknown) => e);
    expect(failure).toMatchObject({
      code: 'unavailable',
      outcome: 'not-sent',
      invalidCredentials: false,
      hint: expect.stringContaining('certificate authority') as string,
    });
  });

  it('checks nothing in insecure mode', async () => {
    expect(await login({ verify: false })).toMatchObject({ projectId: 'p1' });
  });

  it('presents a client certificate if the cloud requires one', async () => {
    const trusting = { verify: true, certificateAuthorities: authority.certificate };
    const clientCertificate = { certificate: client.certificate, key: new Secret(client.key) };
    const wanted = { requestCert: true, rejectUnauthorized: true };
    expect(await login({ ...trusting, clientCertificate }, wanted)).toMatchObject({
      projectId: 'p1',
    });
    await expect(login(trusting, wanted)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
