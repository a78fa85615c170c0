import type { ServiceRow, ServiceState } from '../../../overview/rows.ts';
import { element } from '../element.ts';
import type { RowsStore } from '../rows-store.ts';
import { prepareSearch } from '../search-index.ts';
import { countStates, filterServices, type ServiceFilter } from '../service-filter.ts';
import { VirtualList } from '../virtual-list.ts';
import { badge, cell } from './cells.ts';
import type { View } from './view.ts';

const choices: readonly (readonly [ServiceFilter['state'], string])[] = [
  ['outside', 'Load balancers'],
  ['all', 'All'],
  ['serving', 'Serving'],
  ['degraded', 'Degraded'],
  ['no-endpoints', 'No endpoints'],
  ['not-served', 'Not served'],
  ['unknown', 'Unknown'],
  ['pending', 'Pending'],
  ['idle', 'Idle'],
  ['deleting', 'Deleting'],
];

/** Every Service with its address, provider, state, and the reason of a problem. */
export class ServicesView implements View {
  readonly name = 'services';
  readonly title = 'Services';
  readonly root: HTMLElement;
  readonly #store: RowsStore;
  readonly #list: VirtualList<ServiceRow>;
  readonly #search = element('input', {
    type: 'search',
    placeholder: 'Search: name, address, port, provider, reason',
    'aria-label': 'Search Services',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  readonly #count = element('p', { class: 'count', role: 'status' });
  readonly #buttons = new Map<ServiceFilter['state'], HTMLButtonElement>();
  #state: ServiceFilter['state'] = 'outside';

  constructor(store: RowsStore, onOpen: (key: string) => void) {
    this.#store = store;
    this.#list = new VirtualList({
      label: 'Services',
      keyOf: ({ key }) => key,
      draw: drawService,
      onOpen: ({ key }) => onOpen(key),
      emptyText: 'No Service matches.',
    });
    this.#search.addEventListener('input', () => this.show());
    this.#search.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
      event.preventDefault();
      this.#list.root.focus();
      this.#list.move(1);
    });
    const bar = element('div', { class: 'chips', role: 'group', 'aria-label': 'State' });
    for (const [state, label] of choices) bar.append(this.#chip(state, label));
    const head = element('div', { class: 'row head', 'aria-hidden': 'true' });
    for (const [name, text] of headings) head.append(cell(name, text));
    this.root = element(
      'section',
      { class: 'view services', 'aria-label': this.title },
      element('div', { class: 'toolbar' }, this.#search, this.#count),
      bar,
      head,
      this.#list.root,
    );
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  takeKey(event: KeyboardEvent): void {
    this.#list.takeKey(event);
  }

  show(): void {
    const all = this.#store.list('service');
    const rows = filterServices(all, { search: this.#search.value, state: this.#state });
    const counts = countStates(all);
    for (const [state, button] of this.#buttons) {
      button.setAttribute('aria-pressed', String(state === this.#state));
      const count = state === 'outside' || state === 'all' ? undefined : (counts.get(state) ?? 0);
      button.dataset['count'] = count === undefined ? '' : String(count);
    }
    this.#count.textContent = `${rows.length} of ${all.length}`;
    this.#list.show(rows);
    this.#prepareSearch();
  }

  /** Runs while the browser is idle, so that the first keystroke finds the index ready. */
  #prepareSearch(): void {
    requestIdleCallback((deadline) => {
      const hasTime = () => deadline.timeRemaining() > 1;
      if (!prepareSearch(this.#store.list('service'), hasTime)) this.#prepareSearch();
    });
  }

  #chip(state: ServiceFilter['state'], label: string): HTMLButtonElement {
    const button = element('button', { type: 'button', class: 'chip' }, label);
    button.addEventListener('click', () => {
      this.#state = state;
      this.show();
    });
    this.#buttons.set(state, button);
    return button;
  }
}

const headings: readonly (readonly [string, string])[] = [
  ['state', 'State'],
  ['name', 'Service'],
  ['address', 'Address'],
  ['ports', 'Ports'],
  ['provider', 'Provider'],
  ['endpoints', 'Ready'],
  ['reason', 'Reason'],
];

const moods: Readonly<Record<ServiceState, 'good' | 'waiting' | 'bad' | 'quiet'>> = {
  serving: 'good',
  degraded: 'waiting',
  'no-endpoints': 'bad',
  'not-served': 'bad',
  unknown: 'bad',
  pending: 'waiting',
  idle: 'quiet',
  internal: 'quiet',
  deleting: 'waiting',
};

export function stateBadge(state: ServiceState): HTMLElement {
  return badge(state, moods[state]);
}

function drawService(row: ServiceRow, target: HTMLElement): void {
  const [namespace = '', name = ''] = row.key.split('/');
  const isWell = row.state === 'serving' || row.state === 'internal';
  target.append(
    cell('state', stateBadge(row.state)),
    cell('name', element('span', { class: 'namespace' }, `${namespace}/`), name),
    cell('address', row.addresses.join(' ') || '–'),
    cell('ports', row.ports.join(' ')),
    cell('provider', row.provider || row.backend || row.type),
    cell('endpoints', `${row.endpoints.ready}/${row.endpoints.all}`),
    cell('reason', isWell ? '' : row.message || row.reason),
  );
}
