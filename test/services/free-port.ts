import net from 'node:net';
import { listen } from '../../packages/base/src/network/listen.ts';

/**
 * Below the range from which the kernel takes the ports of outgoing connections: a service may need ten
 * seconds to get to its port, and by then one of thousands of connections could have it.
 */
const first = 12_000;
const last = 29_999;

/**
 * Ports that nothing listens on, and that no other test on this machine is given for as long as this
 * process lives: a service may get to its port late.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = first + Math.floor(Math.random() * (last - first + 1));
    if (await claim(port)) ports.push(port);
  }
  return ports;
}

async function claim(port: number): Promise<boolean> {
  // A name that the kernel lets one process have, and takes back when the process ends.
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
