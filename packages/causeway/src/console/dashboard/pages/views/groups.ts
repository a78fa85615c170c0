import type { EventRow, ServiceRow } from '../../../overview/rows.ts';
import { element } from '../element.ts';
import type { RowsStore } from '../rows-store.ts';
import { ago } from '../time-text.ts';
import { eventList } from './events.ts';
import type { View } from './view.ts';

/** The clouds with discovered load balancers, and the Services of each. */
export class BackendsView implements View {
  readonly name = 'backends';
  readonly title = 'Backends';
  readonly root = element('section', {
    class: 'view cards',
    tabindex: '0',
    'aria-label': 'Backends',
  });
  readonly #store: RowsStore;

  constructor(store: RowsStore) {
    this.#store = store;
  }

  show(): void {
    const groups = Map.groupBy(
      this.#store.list('service').filter(({ backend }) => backend !== ''),
      ({ backend }) => backend,
    );
    this.root.replaceChildren(
      ...(groups.size === 0
        ? [element('p', { class: 'empty' }, 'No load balancer was discovered.')]
        : [...groups].map(([backend, rows]) => backendCard(backend, rows))),
    );
  }
}

function backendCard(backend: string, rows: readonly ServiceRow[]): HTMLElement {
  const namespaces = new Set(rows.map(({ key }) => key.split('/')[0]));
  const without = rows.filter(({ endpoints }) => endpoints.ready === 0).length;
  return element(
    'article',
    { class: 'card' },
    element('h2', {}, backend),
    element('p', {}, `${rows.length} Services in ${namespaces.size} namespaces`),
    element('p', {}, without === 0 ? 'All have endpoints.' : `${without} have no endpoint.`),
  );
}

/** The idle Services, and those that woke recently. */
export class IdleView implements View {
  readonly name = 'idle';
  readonly title = 'Idle';
  readonly root = element('section', {
    class: 'view',
    tabindex: '0',
    'aria-label': 'Idle Services',
  });
  readonly #store: RowsStore;

  constructor(store: RowsStore) {
    this.#store = store;
  }

  show(): void {
    const now = Date.now();
    const idle = this.#store.list('service').filter(({ idledAt }) => idledAt !== '');
    const list = element('ul', { class: 'events' });
    for (const { key, idledAt, addresses } of idle) {
      list.append(
        element(
          'li',
          {},
          element('a', { href: `#services/${key}` }, key),
          element('span', { class: 'text' }, addresses.join(' ')),
          element('time', { datetime: idledAt }, `idle for ${ago(idledAt, now)}`),
        ),
      );
    }
    this.root.replaceChildren(
      element('h2', {}, 'Idle'),
      idle.length === 0 ? element('p', { class: 'empty' }, 'No Service is idle.') : list,
      element('h2', {}, 'Recently woken and idled'),
      eventList(wakeHistory(this.#store.list('event')), 'None within the last hour.'),
    );
  }
}

/** Including those of failures. */
const reasons: ReadonlySet<string> = new Set([
  ...['Idled', 'NeedPods', 'Waking', 'Woken', 'Unidled'],
  ...['CannotIdle', 'CannotWake', 'WakeFailed', 'WakeTargetMissing'],
]);

function wakeHistory(rows: readonly EventRow[]): readonly EventRow[] {
  return rows
    .filter(({ reason }) => reasons.has(reason))
    .sort((left, right) => (left.at > right.at ? -1 : 1));
}
