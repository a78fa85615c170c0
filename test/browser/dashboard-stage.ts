import path from 'node:path';
import type { ServicePath } from '../../packages/causeway/src/console/overview/rows.ts';
import { loadAssets } from '../../packages/causeway/src/console/dashboard/assets.ts';
import {
  startDashboard,
  type DashboardServer,
} from '../../packages/causeway/src/console/dashboard/server.ts';
import { RowStore } from '../../packages/causeway/src/console/overview/row-store.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { sampleEvents, sampleGateways, samplePools, sampleServices } from './sample-rows.ts';

const pagesDirectory = path.resolve(
  import.meta.dirname,
  '../../packages/causeway/src/console/dashboard/pages',
);

export const token = 'a-token-for-the-tests-alone';

/** The dashboard's own server over rows that the test sets. */
export class DashboardStage {
  readonly rowStore = new RowStore();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #server: DashboardServer | undefined;

  constructor() {
    for (const row of sampleServices) this.rowStore.set('service', row);
    for (const row of sampleGateways) this.rowStore.set('gateway', row);
    for (const row of samplePools) this.rowStore.set('pool', row);
    for (const row of sampleEvents) this.rowStore.set('event', row);
    this.#running = this.rowStore.run(systemClock, this.#stop.signal).catch(() => undefined);
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  /** With the previous port, after `shut`. */
  async open(port = 0): Promise<void> {
    this.#server = await startDashboard({
      host: '127.0.0.1',
      port,
      token,
      rowStore: this.rowStore,
      assets: await loadAssets(pagesDirectory),
      log: discardLog,
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
    const service = this.rowStore.get('service', key);
    if (service === undefined) return undefined;
    return {
      service,
      gateways: [
        { name: 'gateway-a', role: 'active', reachable: true, canServe: true, connections: 1_203 },
        { name: 'gateway-b', role: 'standby', reachable: true, canServe: true, connections: 0 },
      ],
      endpoints: Array.from({ length: service.endpoints.all }, (_, index) => ({
        address: `10.244.0.${index + 5}`,
        ports: ['8080/TCP'],
        node: `node-${index}`,
        target: `web-${index}`,
        state: index < service.endpoints.ready ? ('ready' as const) : ('not-ready' as const),
      })),
      events: [...this.rowStore.rows('event')].filter(({ about }) => about === `Service ${key}`),
    };
  }
}
