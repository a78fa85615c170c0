import { randomUUID } from 'node:crypto';
import { parsePrefix } from '@causeway/base/address/prefix';
import { MemoryPodRunner } from '@causeway/fake-kubernetes/controllers/memory-pod-runner';
import type { DataPath, GatewaySettings } from './data-path.ts';
import { freePort } from './free-port.ts';
import { nodeNamed, plans, type PlannedNode } from './plan.ts';
import type { Machine } from './ready-file.ts';

const loopback = '127.0.0.1';

/** Every job runs, rules are computed and kept in memory, and no packets flow. Pods exist only as objects. */
export class MemoryDataPath implements DataPath {
  readonly kind = 'memory';
  /** Keeps two playgrounds on one machine apart. */
  readonly #group = randomUUID();
  readonly pods = new MemoryPodRunner(
    plans.map(({ pods }) => parsePrefix(pods.prefix)),
    ({ spec }) => nodeNamed(spec.nodeName).addresses[0] ?? '',
  );

  place(): Machine {
    return { netns: null, exec: [] };
  }

  words(): readonly string[] {
    return [];
  }

  followCloud(): Promise<void> {
    return Promise.resolve();
  }

  addGateway(): Promise<GatewaySettings> {
    return Promise.resolve({
      listen: { address: loopback, port: 0 },
      metrics: { address: loopback, port: 0 },
      nftables: { driver: 'memory' },
      addresses: { mover: 'simulated', simulatedWith: this.#group },
      // No backend answers.
      probe: { intervalMs: 0 },
    });
  }

  async proxySettings() {
    return {
      nftables: { driver: 'memory' },
      // No packets arrive that could be held.
      idling: { enabled: false },
      health: { address: loopback, port: await freePort() },
      metrics: { address: loopback, port: await freePort() },
    };
  }

  bringPort(_node: PlannedNode, port: number): Promise<number> {
    return Promise.resolve(port);
  }

  remove(): Promise<void> {
    return Promise.resolve();
  }
}
