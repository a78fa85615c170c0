import net from 'node:net';
import { listen } from '../../packages/base/src/network/listen.ts';

/**
 * Below the range of ports for outgoing connections: a service may need ten seconds until it listens, and by
 * then one of thousands of connections could have the port.
 */
const first = 12_000;
const last = 29_999;

/**
 * Ports without a listener, which no other test on this machine gets while this process runs: a service may
 * listen late.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = first + Math.floor(Math.random() * (last - first + 1));
    if (await reserve(port)) ports.push(port);
  }
  return ports;
}

async function reserve(port: number): Promise<boolean> {
  // A name that the kernel gives to one process, and frees when the process ends.
  const name = await tryToListen({ path: `\0causeway-test-port-${port}` });
  if (name === undefined) return false;
  const server = await tryToListen({ port, host: '127.0.0.1' });
  if (server === undefined) {
    name.close();
    return false;
  }
  await new Promise<void>((resolve) => server.close(() => resolve()));
  name.unref();
  return true;
}

async function tryToListen(where: net.ListenOptions): Promise<net.Server | undefined> {
  const server = net.createServer();
  try {
    await listen(server, where);
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no free port');
  return port;
}
