import { openDoor } from '../../services/door.ts';

export interface AgentDoor {
  readonly url: string;
  close(): Promise<void>;
}

/** A way from this machine's loopback to an agent's socket in the file system, for as long as there is one. */
export async function openAgentDoor(socketPath: string): Promise<AgentDoor> {
  const door = await openDoor({ host: '127.0.0.1', port: 0 }, { path: socketPath });
  return { url: `http://127.0.0.1:${door.port}`, close: () => door.close() };
}
