import net from 'node:net';

export interface AgentDoor {
  readonly url: string;
  close(): Promise<void>;
}

/** A way from this machine's loopback to an agent's socket in the file system, for as long as there is one. */
export async function openAgentDoor(socketPath: string): Promise<AgentDoor> {
  const open = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const agent = net.connect(socketPath);
    for (const [socket, other] of [
      [client, agent],
      [agent, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
