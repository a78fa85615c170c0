import { openForwarder } from '../../services/tcp-forwarder.ts';

export interface AgentForwarder {
  readonly url: string;
  close(): Promise<void>;
}

/** Forwards from this machine's loopback to an agent's Unix socket while it exists. */
export async function openAgentForwarder(socketPath: string): Promise<AgentForwarder> {
  const forwarder = await openForwarder({ host: '127.0.0.1', port: 0 }, { path: socketPath });
  return { url: `http://127.0.0.1:${forwarder.port}`, close: () => forwarder.close() };
}
