import { Command } from 'commander';
import { poolRow } from '../../console/overview/pool-source.ts';
import type { PoolRow } from '../../console/overview/rows.ts';
import { print, speaksWithServer, withServer } from '../ipam/connection.ts';

const barWidth = 20;

/** `causeway pools`: every pool of every site, with its usage. */
export function poolsOverviewCommand(): Command {
  const command = new Command('pools')
    .description('every pool of the shared allocator, with its usage')
    .argument('[site]', 'only pools of this site');
  return speaksWithServer(command).action(async (site: string | undefined) => {
    const rows = await withServer(command, async (call) => {
      const sites =
        site === undefined
          ? (await call('listSites', { params: {} })).items.map(({ name }) => name)
          : [site];
      const pools = await Promise.all(
        sites.map(async (each) => {
          const { items } = await call('listPools', { params: { site: each } });
          return items.map((pool) => poolRow(each, pool));
        }),
      );
      return pools.flat();
    });
    print(command, rows, [
      { title: 'pool', value: ({ key }) => key },
      { title: 'used', value: utilisation },
      { title: 'held', value: ({ used }) => String(used) },
      { title: 'resting', value: ({ quarantined }) => String(quarantined) },
      { title: 'free', value: ({ free }) => String(free) },
      { title: 'total', value: ({ total }) => String(total) },
      { title: 'state', value: ({ isDraining }) => (isDraining ? 'drained' : 'serving') },
      { title: 'addresses', value: ({ ranges }) => ranges.join(',') },
    ]);
  });
}

/** Reserved addresses as full blocks, quarantined ones as shaded blocks; any use shows at least one block. */
export function utilisation({ total, used, quarantined }: PoolRow): string {
  if (total === 0) return '-';
  const blocks = (count: number) => Math.ceil((count / total) * barWidth);
  const held = Math.min(blocks(used), barWidth);
  const resting = Math.min(blocks(quarantined), barWidth - held);
  const bar = '█'.repeat(held) + '▒'.repeat(resting) + '·'.repeat(barWidth - held - resting);
  return `${bar} ${Math.round((used / total) * 100)} %`;
}
