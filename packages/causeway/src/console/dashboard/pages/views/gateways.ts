import type { GatewayRow } from '../../../overview/rows.ts';
import { element } from '../element.ts';
import type { RowsStore } from '../rows-store.ts';
import { ago } from '../time-text.ts';
import { badge } from './cells.ts';
import type { View } from './view.ts';

/** The gateways: their roles, generations and problems. */
export class GatewaysView implements View {
  readonly name = 'gateways';
  readonly title = 'Gateways';
  readonly root = element('section', {
    class: 'view cards',
    tabindex: '0',
    'aria-label': 'Gateways',
  });
  readonly #store: RowsStore;

  constructor(store: RowsStore) {
    this.#store = store;
  }

  show(): void {
    const rows = this.#store.list('gateway');
    const newest = Math.max(0, ...rows.map(({ generation }) => generation));
    this.root.replaceChildren(
      ...(rows.length === 0
        ? [element('p', { class: 'empty' }, 'No gateway is configured.')]
        : rows.map((row) => card(row, newest))),
    );
  }
}

function card(row: GatewayRow, newest: number): HTMLElement {
  const { key, vrrp, vrrpSince, reachable, generation, frontends, connections } = row;
  const overrides = [row.isDrained ? 'drained' : '', row.isFrozen ? 'frozen' : ''].filter(Boolean);
  const since = ago(vrrpSince, Date.now());
  const behind = generation < newest ? ` (${newest - generation} behind)` : '';
  const facts: readonly (readonly [string, string])[] = [
    ['Since', since === '' ? 'unknown' : `${since} ago`],
    ['Generation', `${generation}${behind}`],
    ['Frontends', String(frontends)],
    ['Connections', `${connections} of ${row.connectionLimit}`],
    ['Unhealthy', row.unhealthy.join(', ') || 'none'],
    ['Version', row.version],
  ];
  const list = element('dl', { class: 'facts' });
  for (const [name, text] of facts) {
    list.append(element('div', {}, element('dt', {}, name), element('dd', {}, text)));
  }
  const mood = !row.canServe || vrrp === 'FAULT' ? 'bad' : vrrp === 'MASTER' ? 'good' : 'quiet';
  return element(
    'article',
    { class: 'card' },
    element('h2', {}, key),
    element(
      'p',
      {},
      badge(reachable ? vrrp : 'unreachable', mood),
      ...overrides.map((override) => badge(override, 'waiting')),
    ),
    row.message === '' ? undefined : element('p', { class: 'problem' }, row.message),
    list,
  );
}
