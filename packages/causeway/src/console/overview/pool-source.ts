import type { IpamClient } from '../../ipam/api/client.ts';
import type { AnswerOf } from '../../ipam/api/operations.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { RowStore } from './row-store.ts';
import type { PoolRow } from './rows.ts';

export interface PoolSourceOptions {
  readonly client: Pick<IpamClient, 'call'>;
  readonly sites: readonly string[];
  readonly rowStore: RowStore;
  readonly clock: Clock;
  readonly log: Log;
}

const everyMs = 5_000;

/** Polls the usage of the allocator's pools. The last result stays while the allocator does not answer. */
export async function watchPools(options: PoolSourceOptions, signal: AbortSignal): Promise<void> {
  const { sites, clock, log } = options;
  for (;;) {
    for (const site of sites) {
      try {
        await showSite(options, site, signal);
      } catch (error) {
        signal.throwIfAborted();
        log.warn({ error: CausewayError.from(error), site }, "the pools can't be read");
      }
    }
    await sleep(clock, everyMs, signal);
  }
}

async function showSite(
  { client, rowStore }: PoolSourceOptions,
  site: string,
  signal: AbortSignal,
): Promise<void> {
  const { items } = await client.call('listPools', { params: { site } }, signal);
  const rows = items.map((pool) => poolRow(site, pool));
  const present = new Set(rows.map(({ key }) => key));
  for (const { key } of [...rowStore.rows('pool')]) {
    if (key.startsWith(`${site}/`) && !present.has(key)) rowStore.remove('pool', key);
  }
  for (const row of rows) rowStore.set('pool', row);
}

export function poolRow(site: string, pool: AnswerOf<'setPool'>): PoolRow {
  const { total, held, quarantined, free } = pool.usage;
  return {
    key: `${site}/${pool.name}`,
    ranges: pool.addresses,
    total,
    used: held,
    quarantined,
    free,
    isDraining: pool.drained,
  };
}
