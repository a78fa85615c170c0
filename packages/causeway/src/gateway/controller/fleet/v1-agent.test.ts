import http from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFrontend, type Frontend } from '../../protocol/frontend.ts';
import { verifyToken } from '../../protocol/tokens.ts';
import { readV1Config } from '../../protocol/v1.ts';
import { writeDelta, writeState, type DeltaContent } from '../../protocol/write-update.ts';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { listen } from '@causeway/base/network/listen';
import { V1Agent } from './v1-agent.ts';

const signal = new AbortController().signal;
const secret = Buffer.from('a secret of the fleet');
const nothing: DeltaContent = {
  frontends: [],
  nodes: [],
  policies: [],
  assignments: [],
  removedFrontends: [],
  removedNodes: [],
  removedPolicies: [],
  removedAssignments: [],
};
const frontend = (port: number, protocol: 'TCP' | 'SCTP' = 'TCP'): Frontend =>
  makeFrontend({
    address: parseAddress('192.0.2.1'),
    protocol,
    port: parsePort(port),
    destinations: [],
  });

/** Accepts requests like the original agent, and keeps the ports of the last configuration. */
let server: http.Server;
let answer = 200;
let explanation = '';
const applied: number[][] = [];
const clock = new SimulatedClock();
let agent: V1Agent;

beforeEach(async () => {
  answer = 200;
  explanation = '';
  applied.length = 0;
  server = http.createServer((request, response) => {
    void receive(request).then((status) => response.writeHead(status).end(explanation));
  });
  const port = await listen(server);
  const url = `http://127.0.0.1:${port}`;
  agent = new V1Agent({ name: 'gw1', url, secret, clock, limitMs: 5_000 });
});

afterEach(async () => {
  await agent.close();
  await new Promise((resolve) => server.close(resolve));
});

async function receive(request: http.IncomingMessage): Promise<number> {
  if (request.method !== 'POST' || request.url !== '/v1/apply') return 405;
  if (request.headers['content-type'] !== 'application/jwt') return 415;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const token = Buffer.concat(chunks).toString();
  const claims = await verifyToken(token, [secret], clock.wallTime());
  const { frontends } = readV1Config(claims['load-balancer-config'], 1, 'always');
  applied.push([...frontends.values()].map(({ port }) => port));
  return answer;
}

const whole = (generation: number, ...frontends: Frontend[]) =>
  agent.push(writeState({ ...nothing, frontends }, { generation }), signal);

test('sends the full state each time, even for a delta', async () => {
  expect(await whole(7, frontend(80))).toMatchObject({ generation: 7, errors: [] });
  const removedFrontends = [frontend(80)];
  const frontends = [frontend(81), frontend(82)];
  const delta = writeDelta({ ...nothing, frontends, removedFrontends }, { generation: 8, base: 7 });
  expect(await agent.push(delta, signal)).toMatchObject({ generation: 8 });
  expect(applied).toEqual([[80], [81, 82]]);
  expect(await agent.status(signal)).toMatchObject({ generation: 8, frontends: 2 });
});

test("reports what the agent can't serve as a rejection of that frontend", async () => {
  const { errors } = await whole(1, frontend(80), frontend(90, 'SCTP'));
  expect(errors).toMatchObject([{ frontend: { port: 90, protocol: 'SCTP' } }]);
  expect(applied).toEqual([[80]]);
});

test('sends the full state after a failure', async () => {
  await whole(1, frontend(80));
  answer = 500;
  await expect(whole(2, frontend(81))).rejects.toMatchObject({ code: 'internal' });
  expect(await agent.status(signal)).toMatchObject({ generation: 0 });
  const delta = writeDelta(nothing, { generation: 3, base: 2 });
  await expect(agent.push(delta, signal)).rejects.toMatchObject({ code: 'conflict' });
  answer = 400;
  await expect(whole(3)).rejects.toMatchObject({ code: 'unauthorized' });
});

test.each([
  [400, 'Port: gtfield', { code: 'invalid', message: expect.stringContaining('Port: gtfield') }],
  [500, 'nft failed', { code: 'internal', message: expect.stringContaining('nft failed') }],
  [400, '', { code: 'unauthorized', hint: expect.stringContaining('same secret') }],
])('shows the explanation of an answer %s', async (status, body, error) => {
  answer = status;
  explanation = body;
  await expect(whole(1, frontend(80))).rejects.toMatchObject(error);
});

test('resends the state from time to time', async () => {
  await whole(1, frontend(80));
  await agent.status(signal);
  expect(applied).toHaveLength(1);
  await clock.advance(300_000);
  await agent.status(signal);
  expect(applied).toEqual([[80], [80]]);
});
