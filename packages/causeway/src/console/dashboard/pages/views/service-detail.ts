import type { ServicePath } from '../../../overview/rows.ts';
import { element } from '../element.ts';
import { pathMap } from '../path-map.ts';
import { ago } from '../time-text.ts';
import { eventList } from './events.ts';
import { stateBadge } from './services.ts';

const everyMs = 2_000;

/** The path of one Service, polled while it is open. */
export class ServiceDetail {
  readonly root = element('section', { class: 'view detail', tabindex: '0' });
  readonly #onClose: () => void;
  #key: string | undefined;
  #timer: number | undefined;
  #request: AbortController | undefined;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  open(key: string): void {
    this.close();
    this.#key = key;
    this.root.setAttribute('aria-label', `Service ${key}`);
    this.root.replaceChildren(this.#heading(key), element('p', {}, 'Loading…'));
    this.root.focus();
    void this.#refresh(key);
  }

  close(): void {
    this.#key = undefined;
    this.#request?.abort();
    clearTimeout(this.#timer);
  }

  async #refresh(key: string): Promise<void> {
    this.#request = new AbortController();
    const { signal } = this.#request;
    try {
      const response = await fetch(`/api/path?service=${encodeURIComponent(key)}`, { signal });
      if (response.ok) this.#show(key, (await response.json()) as ServicePath);
      else this.#complain(key, await response.text());
    } catch (error) {
      if (signal.aborted) return;
      this.#complain(key, `The server does not answer (${String(error)}).`);
    }
    if (this.#key !== key) return;
    this.#timer = window.setTimeout(() => void this.#refresh(key), everyMs);
  }

  #show(key: string, path: ServicePath): void {
    if (this.#key !== key) return;
    const { service } = path;
    const facts: readonly (readonly [string, string])[] = [
      ['Type', service.type],
      ['Provider', service.provider || 'none'],
      ['Addresses', service.addresses.join(', ') || 'none'],
      ['Ports', service.ports.join(', ')],
      ['Endpoints', `${service.endpoints.ready} of ${service.endpoints.all} ready`],
      ['Age', ago(service.createdAt, Date.now())],
    ];
    const list = element('dl', { class: 'facts' });
    for (const [name, text] of facts) {
      list.append(element('div', {}, element('dt', {}, name), element('dd', {}, text)));
    }
    const standing = element('p', { class: 'standing' }, stateBadge(service.state));
    const age = ago(service.since, Date.now());
    if (age !== '') standing.append(` for ${age}`);
    if (service.message !== '') standing.append(` ${service.message}`);
    if (service.remedy !== '') standing.append(` ${service.remedy}`);
    this.root.replaceChildren(
      this.#heading(key),
      standing,
      element(
        'div',
        { class: 'map-frame', tabindex: '0', role: 'group', 'aria-label': 'Path' },
        pathMap(path, matchMedia('(max-width: 720px)').matches),
      ),
      list,
      element('h3', {}, 'Events'),
      eventList(path.events, 'No recent Events.'),
    );
  }

  #complain(key: string, text: string): void {
    if (this.#key !== key) return;
    this.root.replaceChildren(
      this.#heading(key),
      element('p', { class: 'problem', role: 'alert' }, text),
    );
  }

  #heading(key: string): HTMLElement {
    const back = element('button', { type: 'button' }, '← Services');
    back.addEventListener('click', this.#onClose);
    return element('div', { class: 'heading' }, back, element('h2', {}, key));
  }
}
