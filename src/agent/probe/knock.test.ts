import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseAddress } from '../../domain/address.ts';
import { parsePort } from '../../domain/port.ts';
import { systemClock } from '../../runtime/clock.ts';
import { knock } from './knock.ts';

const address = parseAddress('127.0.0.1');
const { signal } = new AbortController();
let server: net.Server;
beforeEach(async () => {
  // A knock that was answered is reset.
  server = net.createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const port = () => parsePort((server.address() as AddressInfo).port);

/** Nothing else runs in this process for so long. */
function standStill(forMs: number): void {
  const until = systemClock.monotonic() + forMs;
  while (systemClock.monotonic() < until);
}

test('an answer that came while this process stood still counts, though the limit has passed', async () => {
  const answered = knock(systemClock, { address, port: port() }, 10, signal);
  // The attempt itself begins with the next tick.
  process.nextTick(standStill, 30);
  expect(await answered).toBe(true);
});

test('a refusal is an answer, too', async () => {
  const closed = port();
  await new Promise((resolve) => server.close(resolve));
  expect(await knock(systemClock, { address, port: closed }, 60_000, signal)).toBe(true);
  server.listen(0);
});
