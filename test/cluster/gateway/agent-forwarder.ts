import { openForwarder } from '../../services/tcp-forwarder.ts';

export interface AgentForwarder {
  readonly url: string;
  close(): Promise<void>;
}

/** A way from this machine's loopback to an agent's socket in the file system, for as long as there is one. */
export async function openAgentForwarder(socketPath: string): Promise<AgentForwarder> {
  const forwarder = await openForwarder({ host: '127.0.0.1', port: 0 }, { path: socketPath });
  return { url: `http://127.0.0.1:${forwarder.port}`, close: () => forwarder.close() };
}
