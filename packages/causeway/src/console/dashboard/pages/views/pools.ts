import type { PoolRow } from '../../../overview/rows.ts';
import { element, svg } from '../element.ts';
import type { RowsStore } from '../rows-store.ts';
import { badge } from './cells.ts';
import type { View } from './view.ts';

/** The pools of the shared allocator and their usage. */
export class PoolsView implements View {
  readonly name = 'pools';
  readonly title = 'Pools';
  readonly root = element('section', { class: 'view cards', tabindex: '0', 'aria-label': 'Pools' });
  readonly #store: RowsStore;

  constructor(store: RowsStore) {
    this.#store = store;
  }

  show(): void {
    const rows = this.#store.list('pool');
    this.root.replaceChildren(
      ...(rows.length === 0
        ? [element('p', { class: 'empty' }, 'No allocator is configured, or it has no pool.')]
        : rows.map(card)),
    );
  }
}

function card(row: PoolRow): HTMLElement {
  const share = row.total === 0 ? 0 : (row.used + row.quarantined) / row.total;
  const percent = Math.round(share * 100);
  const mood = share >= 0.95 ? 'bad' : share >= 0.8 ? 'waiting' : 'good';
  return element(
    'article',
    { class: 'card' },
    element('h2', {}, row.key),
    element(
      'p',
      {},
      badge(`${percent} % taken`, mood),
      ...(row.isDraining ? [badge('drained', 'waiting')] : []),
    ),
    picture(row),
    element(
      'p',
      {},
      `${row.used} reserved, ${row.quarantined} in quarantine, ${row.free} free of ${row.total}`,
    ),
    element('p', { class: 'quiet-text' }, row.ranges.join(', ')),
  );
}

/** A bar of a hundred cells: reserved, in quarantine, free. */
function picture({ total, used, quarantined, key }: PoolRow): SVGElement {
  const cells = 50;
  const share = (count: number) => (total === 0 ? 0 : Math.ceil((count / total) * cells));
  const held = share(used);
  const resting = share(quarantined);
  const boxes = Array.from({ length: cells }, (_, index) => {
    const kind = index < held ? 'held' : index < held + resting ? 'resting' : 'free';
    return svg('rect', {
      class: kind,
      x: String((index % 25) * 12),
      y: String(Math.floor(index / 25) * 16),
      width: '10',
      height: '13',
      rx: '2',
    });
  });
  return svg(
    'svg',
    {
      class: 'usage',
      viewBox: '0 0 300 30',
      role: 'img',
      'aria-label': `${key}: ${used} reserved and ${quarantined} in quarantine of ${total}`,
    },
    ...boxes,
  );
}
