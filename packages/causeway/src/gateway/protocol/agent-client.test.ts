import http from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { listen } from '@causeway/base/network/listen';
import { HttpAgentClient } from './agent-client.ts';

const { signal } = new AbortController();
const status = {
  agent: 'g1',
  version: '0.1.0',
  revisions: { oldest: 1, newest: 2 },
  generation: 5,
  frontends: 0,
  older: [],
  errors: [],
  notFailoverSafe: [],
  sound: true,
  vrrp: { state: 'MASTER', since: null },
  frozen: null,
  undoSteps: 0,
  drained: { since: 1, reason: 'für heute' },
  unhealthy: { heard: 1, seen: [], acted: [] },
  alarms: [],
  kernelSettings: [],
  connections: null,
};

let server: http.Server | undefined;
let client: HttpAgentClient | undefined;

/** A gateway with scripted answers. */
async function gatewayThat(answers: http.RequestListener): Promise<HttpAgentClient> {
  server = http.createServer(answers);
  const port = await listen(server);
  client = new HttpAgentClient({
    url: `http://127.0.0.1:${port}`,
    name: 'g1',
    secret: Buffer.alloc(32, 1),
    clock: systemClock,
    limitMs: 20_000,
  });
  return client;
}

afterEach(async () => {
  await client?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

test('reads a status in any chunks, even split inside a character', async () => {
  const bytes = Buffer.from(`${JSON.stringify(status)}\n`);
  const cut = bytes.indexOf('ü') + 1;
  const gateway = await gatewayThat((_request, response) => {
    response.write(bytes.subarray(0, cut));
    setTimeout(() => response.write(bytes.subarray(cut)), 50);
  });
  const { value } = await gateway.events(signal).next();
  expect(value).toEqual(status);
});

test('disconnects from a gateway that never ends a line', async () => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const gateway = await gatewayThat((_request, response) => {
    const more = () => {
      while (response.write(piece));
    };
    response.on('drain', more);
    more();
  });
  const began = performance.now();
  await expect(gateway.events(signal).next()).rejects.toMatchObject({ code: 'unavailable' });
  // Joining and searching the whole text for each chunk would take minutes.
  expect(performance.now() - began).toBeLessThan(15_000);
});

test('rejects an invalid trace', async () => {
  const gateway = await gatewayThat((_request, response) => response.end('{"outcome":"sold"}'));
  const question = { client: '192.0.2.1', clientPort: 1, address: '192.0.2.2', port: 80 };
  await expect(
    gateway.trace({ ...question, protocol: 'TCP' } as never, signal),
  ).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('outcome') });
});
