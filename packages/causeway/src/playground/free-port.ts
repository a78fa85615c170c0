import net from 'node:net';
import { listen } from '@causeway/base/network/listen';

/** A port of the loopback address that is free now, for a process that needs to know its port in advance. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  const port = await listen(server);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  return port;
}
