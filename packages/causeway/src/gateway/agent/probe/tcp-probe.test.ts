import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { systemClock } from '@causeway/base/time/clock';
import { listen } from '@causeway/base/network/listen';
import { probeTcp } from './tcp-probe.ts';

const address = parseAddress('127.0.0.1');
const { signal } = new AbortController();
let server: net.Server;
beforeEach(async () => {
  // An answered probe resets its connection.
  server = net.createServer((socket) => socket.on('error', () => {}));
  await listen(server);
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const port = () => parsePort((server.address() as AddressInfo).port);

/** Blocks this process for this time. */
function standStill(forMs: number): void {
  const until = systemClock.monotonic() + forMs;
  while (systemClock.monotonic() < until);
}

test('counts an answer that arrived while this process was blocked, even after the limit', async () => {
  const answered = probeTcp(systemClock, { address, port: port() }, 10, signal);
  // The attempt starts with the next tick.
  process.nextTick(standStill, 30);
  expect(await answered).toBe(true);
});

test('counts a refused connection as an answer', async () => {
  const closed = port();
  await new Promise((resolve) => server.close(resolve));
  expect(await probeTcp(systemClock, { address, port: closed }, 60_000, signal)).toBe(true);
  server.listen(0);
});

/** A port with a full connection queue: the kernel drops further attempts without a reply. */
async function unansweringPort() {
  const listen = 'listen({ port: 0, host: "127.0.0.1", backlog: 1 }, report)';
  const script = `function report() { console.log(this.address().port) }
    require("node:net").createServer().${listen}`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  const fillers: net.Socket[] = [];
  onTestFinished(() => {
    for (const filler of fillers) filler.destroy();
    child.kill('SIGKILL');
  });
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGSTOP');
  const unhealthy = parsePort(Number(text.toString()));
  for (let count = 0; count < 4; count += 1) {
    fillers.push(net.connect(unhealthy, '127.0.0.1').on('error', () => {}));
  }
  await expect.poll(() => fillers.filter(({ connecting }) => !connecting).length).toBe(2);
  return unhealthy;
}

test('leaves no socket open after an unanswered attempt', async () => {
  const unhealthy = await unansweringPort();
  const attempts = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'ConnectWrap').length;
  const before = attempts();
  expect(before).toBeGreaterThan(0);
  expect(await probeTcp(systemClock, { address, port: unhealthy }, 20, signal)).toBe(false);
  await expect.poll(attempts).toBe(before);
});
