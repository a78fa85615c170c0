import path from 'node:path';
import type { ServicePath } from '../../packages/causeway/src/console/overview/rows.ts';
import { loadAssets } from '../../packages/causeway/src/console/dashboard/assets.ts';
import {
  startDashboard,
  type DashboardServer,
} from '../../packages/causeway/src/console/dashboard/server.ts';
import { RowStore } from '../../packages/causeway/src/console/overview/row-store.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { silentLog } from '../../packages/base/src/observability/log.ts';
import { sampleEvents, sampleGateways, samplePools, sampleServices } from './sample-rows.ts';

const pagesDirectory = path.resolve(
  import.meta.dirname,
  '../../packages/causeway/src/console/dashboard/pages',
);

export const token = 'a-token-for-the-tests-alone';

/** The dashboard's own server over rows that the test sets. */
export class DashboardStage {
  readonly board = new RowStore();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #server: DashboardServer | undefined;

  constructor() {
    for (const row of sampleServices) this.board.set('service', row);
    for (const row of sampleGateways) this.board.set('gateway', row);
    for (const row of samplePools) this.board.set('pool', row);
    for (const row of sampleEvents) this.board.set('event', row);
    this.#running = this.board.run(systemClock, this.#stop.signal).catch(() => undefined);
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  /** With the port of before, after `shut`. */
  async open(port = 0): Promise<void> {
    this.#server = await startDashboard({
      host: '127.0.0.1',
      port,
      token,
      board: this.board,
      assets: await loadAssets(pagesDirectory),
      log: silentLog,
      findPath: (namespace, name) => Promise.resolve(this.#pathOf(`${namespace}/${name}`)),
    });
  }

  async shut(): Promise<void> {
    await this.#server?.close();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.shut();
  }

  #pathOf(key: string): ServicePath | undefined {
    const service = this.board.get('service', key);
    if (service === undefined) return undefined;
    return {
      service,
      gateways: [
        { name: 'gateway-a', vrrp: 'MASTER', reachable: true, canServe: true, connections: 1_203 },
        { name: 'gateway-b', vrrp: 'BACKUP', reachable: true, canServe: true, connections: 0 },
      ],
      endpoints: Array.from({ length: service.endpoints.all }, (_, index) => ({
        address: `10.244.0.${index + 5}`,
        ports: ['8080/TCP'],
        node: `node-${index}`,
        target: `web-${index}`,
        state: index < service.endpoints.ready ? ('ready' as const) : ('not-ready' as const),
      })),
      events: [...this.board.rows('event')].filter(({ about }) => about === `Service ${key}`),
    };
  }
}
