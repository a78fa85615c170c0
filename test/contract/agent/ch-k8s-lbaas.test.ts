import fs from 'node:fs/promises';
import path from 'node:path';
import { SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runAgent } from '../../../packages/causeway/src/gateway/agent/agent.ts';
import { MemoryKernel } from '../../../packages/causeway/src/gateway/agent/memory-kernel.ts';
import { agentSettings } from '../../../packages/causeway/src/gateway/agent/settings.ts';
import { HttpAgentClient } from '../../../packages/causeway/src/gateway/protocol/agent-client.ts';
import { writeV1Config } from '../../../packages/causeway/src/gateway/controller/fleet/v1-config.ts';
import { makeFrontend } from '../../../packages/causeway/src/gateway/protocol/frontend.ts';
import {
  policyKey,
  type IngressRule,
  type Policy,
  type PortFilter,
} from '../../../packages/causeway/src/gateway/protocol/policy.ts';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort, type Protocol } from '../../../packages/base/src/address/port.ts';
import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { exchanges, firstPush, sent } from './ch-k8s-lbaas-exchanges.ts';
import { originalAnswer } from './original-agent.ts';

const layout = {
  table: 'causeway',
  hashSeed: 1,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};
const { signal } = new AbortController();
const secret = Buffer.from('the secret of both sides');

describe('the agent beside the agent of ch-k8s-lbaas', () => {
  let directory: string;
  let stop: AbortController;
  let running: Promise<void>;
  let url: string;
  let client: HttpAgentClient;
  const warnings: string[] = [];

  beforeEach(async () => {
    directory = await scratchDirectory('ch-k8s-lbaas');
    warnings.length = 0;
    const secretsFile = path.join(directory, 'secrets');
    await fs.writeFile(secretsFile, secret.toString('base64'));
    stop = new AbortController();
    const ready = Promise.withResolvers<string>();
    running = runAgent(
      {
        settings: agentSettings.parse({
          name: 'gateway-1',
          listen: { address: '127.0.0.1', port: 0 },
          stateDirectory: path.join(directory, 'state'),
          runtimeDirectory: path.join(directory, 'run'),
          secretsFile,
          v1: { secretsFile, masquerade: 'needed' },
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
    client = new HttpAgentClient({
      ...{ url, secret, clock: systemClock },
      name: 'gateway-1',
      limitMs: 60_000,
    });
  });
  afterEach(async () => {
    await client.close();
    stop.abort();
    await running;
    await removeDirectory(directory);
  });

  async function apply(config: object): Promise<number> {
    const token = await new SignJWT({ 'load-balancer-config': config })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setExpirationTime('15s')
      .sign(secret);
    const headers = { 'content-type': 'application/jwt' };
    const answer = await fetch(`${url}/v1/apply`, { method: 'POST', headers, body: token });
    await answer.arrayBuffer();
    return answer.status;
  }

  async function served(): Promise<string[]> {
    const counts = await client.counters(signal);
    return counts.map(({ address, port, protocol }) => `${address}:${port}/${protocol}`).sort();
  }

  test.each(exchanges)(
    'serves the other records of a request with $title',
    async ({ config, served: expected, setAside }) => {
      expect(await apply(config)).toBe(200);
      expect(await served()).toEqual([...expected].sort());
      const { errors } = await client.status(signal);
      expect(errors.flatMap((each) => each.errors)).toHaveLength(setAside);
      expect(warnings).toHaveLength(setAside === 0 ? 0 : 1);
    },
  );

  test.each(sent)(
    'serves what the original controller sends in the layer $layer',
    async ({ config, served: expected }) => {
      expect(await apply(config)).toBe(200);
      expect(await served()).toEqual([...expected].sort());
    },
  );

  test('keeps all frontends at the first push of a restarted controller', async () => {
    const [pod] = sent;
    await apply(pod?.config ?? {});
    const before = await served();
    expect(await apply(firstPush)).toBe(200);
    expect(await served()).toEqual(before);
    expect((await client.status(signal)).withheld).toHaveLength(2);
    await apply(pod?.config ?? {});
    expect((await client.status(signal)).withheld).toEqual([]);
  });
});

describe('the controller with the agent of ch-k8s-lbaas', () => {
  const port = (number: number) => parsePort(number);
  const policy = (namespace: string, name: string, rule: IngressRule): Policy => ({
    namespace,
    name,
    ingress: [rule],
  });
  const filterOf = (protocol: Protocol, first: number, last: number): PortFilter => ({
    protocol,
    port: port(first),
    endPort: port(last),
  });
  const block = (cidr: string) => ({ cidr: parsePrefix(cidr), except: [] });
  const policies = [
    policy('1team', 'pol', { from: [block('10.0.0.0/8')], ports: undefined }),
    policy('shop', 'pol', { from: undefined, ports: [filterOf('TCP', 80, 80)] }),
    policy('shop', 'six', { from: [block('2001:db8::/32')], ports: undefined }),
    policy('shop', 'sctp', { from: undefined, ports: [filterOf('SCTP', 80, 81)] }),
  ];
  const frontend = (number: number, protocol: Protocol) =>
    makeFrontend({
      address: parseAddress('198.51.100.10'),
      protocol,
      port: port(number),
      destinations: [{ address: parseAddress('10.0.0.1'), port: port(8080), weight: 1 }],
    });

  test.each(exchanges)('knows the answer to a request with $title', ({ config, original }) => {
    expect(originalAnswer(config)).toBe(original);
  });

  test('writes nothing that the original agent rejects', () => {
    const { claim, problems } = writeV1Config({
      frontends: [frontend(80, 'TCP'), frontend(90, 'SCTP')],
      nodes: [],
      policies: new Map(policies.map((each) => [policyKey(each), each])),
      assignments: [
        {
          address: parseAddress('10.0.0.1'),
          policies: [...policies.map(policyKey), policyKey({ namespace: 'shop', name: 'gone' })],
          namedPorts: [],
        },
      ],
    });
    expect(originalAnswer(claim)).toBe(200);
    expect([...problems.keys()]).toEqual(['198.51.100.10:90/SCTP']);
    expect(JSON.stringify(claim)).toContain('"inbound-port":80');
  });
});
