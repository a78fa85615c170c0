import { connect } from './connection.ts';
import { byId, element } from './element.ts';
import { toggleHelp } from './help.ts';
import { RowsStore } from './rows-store.ts';
import { setUpTheme } from './theme.ts';
import { EventsView } from './views/events.ts';
import { GatewaysView } from './views/gateways.ts';
import { BackendsView, IdleView } from './views/groups.ts';
import { PoolsView } from './views/pools.ts';
import { ServiceDetail } from './views/service-detail.ts';
import { ServicesView } from './views/services.ts';
import type { View } from './views/view.ts';

const store = new RowsStore();
const services = new ServicesView(store, (key) => (location.hash = `#services/${key}`));
const detail = new ServiceDetail(() => (location.hash = '#services'));
const views: readonly View[] = [
  services,
  new GatewaysView(store),
  new PoolsView(store),
  new BackendsView(store),
  new IdleView(store),
  new EventsView(store),
];
const main = byId('main');
let current: View | undefined;

/** The URL selects the view: `#gateways`, `#services/shop/web`. */
function route(): void {
  const [name = '', ...rest] = location.hash.slice(1).split('/');
  const view = views.find((candidate) => candidate.name === name) ?? services;
  for (const link of document.querySelectorAll('#tabs a')) {
    const isHere = link.getAttribute('href') === `#${view.name}`;
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (view === services && rest.length === 2) {
    current = undefined;
    present(detail.root);
    detail.open(rest.join('/'));
    return;
  }
  detail.close();
  current = view;
  present(view.root);
  view.show();
}

/** Existing content is not moved and keeps its focus. */
function present(root: HTMLElement): void {
  if (main.firstChild !== root) main.replaceChildren(root);
}

function onKey(event: KeyboardEvent): void {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === 'Escape') {
    if (isTyping) event.target.blur();
    else if (current === undefined) location.hash = '#services';
    return;
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const view = views[Number(event.key) - 1];
  if (view !== undefined) location.hash = `#${view.name}`;
  else if (event.key === '?') toggleHelp();
  else if (event.key === '/') {
    event.preventDefault();
    location.hash = '#services';
    route();
    services.focusSearch();
  } else if (current === services && isForList(event)) services.takeKey(event);
}

/** The keys move the list wherever the focus is; a focused button keeps its own Enter. */
function isForList({ key, target, defaultPrevented }: KeyboardEvent): boolean {
  const isMove = ['j', 'k', 'ArrowDown', 'ArrowUp'].includes(key);
  return !defaultPrevented && (isMove || target === document.body);
}

let isDue = false;

/** Draws once per frame, for all changes. */
function drawSoon(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    current?.show();
  });
}

for (const { name, title } of views) {
  byId('tabs').append(element('li', {}, element('a', { href: `#${name}` }, title)));
}
setUpTheme(byId('theme'));
store.onChange(drawSoon);
window.addEventListener('hashchange', route);
window.addEventListener('keydown', onKey);
route();
connect(store, (text, isWell) => {
  const status = byId('connection');
  status.textContent = text;
  status.dataset['well'] = String(isWell);
});
