import fs from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runAgent } from '../../../packages/causeway/src/gateway/agent/agent.ts';
import { HttpAgentClient } from '../../../packages/causeway/src/gateway/protocol/agent-client.ts';
import { MemoryKernel } from '../../../packages/causeway/src/gateway/agent/memory-kernel.ts';
import { makeFrontend } from '../../../packages/causeway/src/gateway/protocol/frontend.ts';
import { agentSettings } from '../../../packages/causeway/src/gateway/agent/settings.ts';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import {
  issueCertificate,
  makeAuthority,
  type CertificateFiles,
} from '../../services/certificates.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { waitFor } from '../../services/wait-for.ts';

const layout = {
  table: 'causeway',
  hashSeed: 1,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};
const { signal } = new AbortController();
const old = Buffer.from('the secret of last year');
const fresh = Buffer.from('the secret of this year');

describe('an agent with certificates and secrets', () => {
  let directory: string;
  let authority: CertificateFiles;
  let stop: AbortController;
  let running: Promise<void>;
  let url: string;
  const clients: HttpAgentClient[] = [];
  const warnings: string[] = [];
  const file = (name: string) => path.join(directory, name);

  beforeEach(async () => {
    directory = await scratchDirectory('secured-agent');
    warnings.length = 0;
    authority = await makeAuthority(directory);
    await issueCertificate(directory, authority, 'agent', '/CN=agent', 'IP:127.0.0.1');
    await issueCertificate(directory, authority, 'controller', '/CN=controller');
    await fs.writeFile(file('secrets'), old.toString('base64'));
    stop = new AbortController();
    const ready = Promise.withResolvers<string>();
    running = runAgent(
      {
        settings: agentSettings.parse({
          name: 'gateway-1',
          listen: { address: '127.0.0.1', port: 0 },
          stateDirectory: file('state'),
          runtimeDirectory: file('run'),
          secretsFile: file('secrets'),
          tls: {
            certificateFile: file('agent.crt'),
            keyFile: file('agent.key'),
            clientAuthorityFile: authority.certificate,
          },
          addresses: { mover: 'foreign' },
          probe: { intervalMs: 0 },
        }),
        kernel: new MemoryKernel(layout),
        clock: systemClock,
        log: { ...discardLog, warn: (_fields, message) => void warnings.push(message) },
        metrics: noMetrics,
        version: '0.0.0',
        metricsPage: () => Promise.resolve({ type: 'text/plain', body: '' }),
        onReady: ready.resolve,
      },
      stop.signal,
    );
    url = await Promise.race([ready.promise, running.then(() => 'ended')]);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    stop.abort();
    await running;
    await removeDirectory(directory);
  });

  async function connect(secret: Buffer, certificate?: string): Promise<HttpAgentClient> {
    const client = new HttpAgentClient({
      url,
      name: 'gateway-1',
      secret,
      clock: systemClock,
      limitMs: 60_000,
      tls: {
        ca: await fs.readFile(authority.certificate, 'utf8'),
        ...(certificate === undefined
          ? {}
          : {
              cert: await fs.readFile(file(`${certificate}.crt`), 'utf8'),
              key: await fs.readFile(file(`${certificate}.key`), 'utf8'),
            }),
      },
    });
    clients.push(client);
    return client;
  }

  test('accepts only clients with a certificate of its authority', async () => {
    const trusted = await connect(old, 'controller');
    await expect(trusted.status(signal)).resolves.toMatchObject({ agent: 'gateway-1' });
    const anonymous = await connect(old);
    await expect(anonymous.status(signal)).rejects.toMatchObject({ code: 'unavailable' });
    const stranger = await scratchDirectory('stranger');
    try {
      const other = await makeAuthority(stranger);
      await issueCertificate(directory, other, 'forged', '/CN=controller');
      const forged = await connect(old, 'forged');
      await expect(forged.status(signal)).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      await removeDirectory(stranger);
    }
  });

  test('accepts a new secret beside the old one, then drops the old one, without an interruption', async () => {
    const before = await connect(old, 'controller');
    const after = await connect(fresh, 'controller');
    await expect(after.status(signal)).rejects.toMatchObject({ code: 'unauthorized' });
    await fs.writeFile(file('secrets'), `${fresh.toString('base64')}\n${old.toString('base64')}\n`);
    await waitFor('the new secret', () => after.status(signal));
    await expect(before.status(signal)).resolves.toBeDefined();
    await fs.writeFile(file('secrets'), fresh.toString('base64'));
    await waitFor('the old secret to be refused', async () =>
      before.status(signal).then(
        () => false,
        () => true,
      ),
    );
    await expect(after.status(signal)).resolves.toBeDefined();
  });

  test('keeps its secrets when the file becomes invalid', async () => {
    await fs.writeFile(file('secrets'), 'not base64!');
    const client = await connect(old, 'controller');
    await waitFor('the agent to notice', () =>
      warnings.some((text) => text.includes('keeping the current')),
    );
    await expect(client.status(signal)).resolves.toBeDefined();
  });

  test('loads nothing new while its certificate does not match its key', async () => {
    const refusals = () => warnings.filter((text) => text.includes('keeping the current')).length;
    const key = await fs.readFile(file('agent.key'));
    await fs.copyFile(file('controller.key'), file('agent.key'));
    await waitFor('the agent to notice', () => refusals() > 0);
    await fs.writeFile(file('secrets'), fresh.toString('base64'));
    const seen = refusals();
    // The first of these checks may have begun before.
    await waitFor('two more checks', () => refusals() >= seen + 2);
    const before = await connect(old, 'controller');
    await expect(before.status(signal)).resolves.toBeDefined();
    await fs.writeFile(file('agent.key'), key);
    const after = await connect(fresh, 'controller');
    await waitFor('the new secret', () => after.status(signal));
  });

  test('serves a new certificate without a restart', async () => {
    const client = await connect(old, 'controller');
    await client.status(signal);
    const renewed = await scratchDirectory('renewed');
    try {
      authority = await makeAuthority(renewed);
      await issueCertificate(directory, authority, 'agent', '/CN=agent', 'IP:127.0.0.1');
      // Clients still use the first authority, which the agent checks against.
      await waitFor('the new certificate', async () => {
        const next = await connect(old, 'controller');
        return next.status(signal);
      });
    } finally {
      await removeDirectory(renewed);
    }
  });

  test('accepts an update', async () => {
    const client = await connect(old, 'controller');
    const frontends = [
      makeFrontend({
        address: parseAddress('192.0.2.1'),
        protocol: 'TCP',
        port: parsePort(80),
        destinations: [],
      }),
    ];
    const content = { frontends, policies: [], assignments: [], nodes: [] };
    await client.push(writeState(content, { generation: 7 }), signal);
    await expect(client.status(signal)).resolves.toMatchObject({ generation: 7, frontends: 1 });
  });
});
