import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { request } from 'undici';
import { openEchoGate } from './echo-gate.ts';
import { openGate, type Gate } from './gate.ts';
import { listen } from '../../packages/base/src/network/listen.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A gate before a server that echoes everything. */
async function gateToEcho(): Promise<Gate> {
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  await listen(server);
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  const gate = await openGate({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  ends.push(() => gate.close());
  return gate;
}

async function connect(gate: Gate): Promise<net.Socket> {
  const socket = net.connect({ host: '127.0.0.1', port: gate.port });
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  ends.push(() => Promise.resolve(socket.destroy()));
  return socket;
}

const heard = async (socket: net.Socket) => String(((await once(socket, 'data')) as [Buffer])[0]);

async function closed(socket: net.Socket): Promise<void> {
  // `once` would fail on an error before the event.
  if (!socket.closed) await new Promise<void>((resolve) => socket.on('close', () => resolve()));
}

test.each(['open', 'delayed'] as const)('%s: data arrives', async (mode) => {
  const gate = await gateToEcho();
  gate.set(mode);
  const socket = await connect(gate);
  socket.write('hello');
  expect(await heard(socket)).toBe('hello');
});

test('stalled: the connection stays, and all data arrives in order when the gate is open again', async () => {
  const gate = await gateToEcho();
  const socket = await connect(gate);
  socket.write('one');
  expect(await heard(socket)).toBe('one');
  gate.set('stalled');
  socket.write('two');
  const other = await connect(gate);
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
  other.write('x');
  // Data through another gate shows that there was enough time.
  const passing = await connect(await gateToEcho());
  passing.write('passing');
  await heard(passing);
  expect(said).toBe('');
  gate.set('open');
  socket.write(' three');
  await expect.poll(() => said).toBe('two three');
});

test('refused: open connections are cut, and new ones are refused', async () => {
  const gate = await gateToEcho();
  const socket = await connect(gate);
  gate.set('refused');
  await closed(socket);
  const late = net.connect({ host: '127.0.0.1', port: gate.port });
  late.on('error', () => undefined);
  await closed(late);
  gate.set('open');
  const again = await connect(gate);
  again.write('back');
  expect(await heard(again)).toBe('back');
});

test('echo: delivers changes twice and reads once', async () => {
  const seen: string[] = [];
  const server = http.createServer((incoming, answer) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    incoming.resume();
    answer.end(`answer ${seen.length}`);
  });
  await listen(server);
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  const gate = await openEchoGate(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  ends.push(() => gate.close());
  const call = async (method: 'GET' | 'POST') => {
    const answer = await request(`http://127.0.0.1:${gate.port}/ports?a=b`, { method, body: null });
    return answer.body.text();
  };
  expect(await call('POST')).toBe('answer 1');
  gate.echo(true);
  expect(await call('POST')).toBe('answer 2');
  expect(await call('GET')).toBe('answer 4');
  expect(seen).toEqual(['POST /ports?a=b', 'POST /ports?a=b', 'POST /ports?a=b', 'GET /ports?a=b']);
});
