import type { EventRow } from '../../../overview/rows.ts';
import { element } from '../element.ts';
import type { RowsStore } from '../rows-store.ts';
import { ago } from '../time-text.ts';
import { badge } from './cells.ts';
import type { View } from './view.ts';

/** The Events about Services, newest first. */
export class EventsView implements View {
  readonly name = 'events';
  readonly title = 'Events';
  readonly root = element('section', { class: 'view', tabindex: '0', 'aria-label': 'Events' });
  readonly #store: RowsStore;

  constructor(store: RowsStore) {
    this.#store = store;
  }

  show(): void {
    const rows = [...this.#store.list('event')].sort((left, right) =>
      left.at > right.at ? -1 : 1,
    );
    this.root.replaceChildren(eventList(rows, 'No Events within the last hour.'));
  }
}

export function eventList(rows: readonly EventRow[], emptyText: string): HTMLElement {
  if (rows.length === 0) return element('p', { class: 'empty' }, emptyText);
  const now = Date.now();
  const list = element('ul', { class: 'events' });
  for (const { at, isWarning, reason, message, about, count } of rows) {
    list.append(
      element(
        'li',
        {},
        badge(reason, isWarning ? 'bad' : 'quiet'),
        element('span', { class: 'about' }, about),
        element('span', { class: 'text' }, message),
        element('time', { datetime: at }, `${ago(at, now)}${count > 1 ? ` × ${count}` : ''}`),
      ),
    );
  }
  return list;
}
