import { element } from './element.ts';

export interface VirtualListOptions<Row> {
  readonly label: string;
  /** Fills an empty row. */
  readonly draw: (row: Row, target: HTMLElement) => void;
  readonly keyOf: (row: Row) => string;
  readonly onOpen: (row: Row) => void;
  readonly emptyText: string;
}

/** Rows above and below the visible ones, so that fast scrolling shows no gaps. */
const spare = 8;

/** A list with elements for the visible rows only, however many rows there are. */
export class VirtualList<Row> {
  readonly root: HTMLElement;
  readonly #options: VirtualListOptions<Row>;
  readonly #spacer = element('div', { class: 'spacer', role: 'presentation' });
  readonly #empty = element('p', { class: 'empty' });
  #rows: readonly Row[] = [];
  #selected = -1;
  #heightPx = 0;

  constructor(options: VirtualListOptions<Row>) {
    this.#options = options;
    this.root = element(
      'div',
      { class: 'list', role: 'listbox', tabindex: '0', 'aria-label': options.label },
      this.#spacer,
    );
    this.root.addEventListener('scroll', () => this.#draw(), { passive: true });
    this.root.addEventListener('keydown', (event) => this.#onKey(event));
    this.root.addEventListener('click', (event) => this.#onClick(event));
    new ResizeObserver(() => this.#draw()).observe(this.root);
  }

  show(rows: readonly Row[]): void {
    const kept = this.#rows[this.#selected];
    this.#rows = rows;
    if (kept !== undefined) {
      const key = this.#options.keyOf(kept);
      this.#selected = rows.findIndex((row) => this.#options.keyOf(row) === key);
    }
    this.#draw();
  }

  /** Moves the selection and scrolls it into view. */
  move(by: number): void {
    if (this.#rows.length === 0) return;
    this.#selected = Math.min(this.#rows.length - 1, Math.max(0, this.#selected + by));
    const top = this.#selected * this.#heightPx;
    const bottom = top + this.#heightPx;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (bottom > this.root.scrollTop + this.root.clientHeight) {
      this.root.scrollTop = bottom - this.root.clientHeight;
    }
    this.#draw();
  }

  /** Handles a key that was pressed elsewhere; the list then has the focus. */
  takeKey(event: KeyboardEvent): void {
    this.root.focus();
    this.#onKey(event);
  }

  #draw(): void {
    // All reads come before all writes, so that the browser computes the layout once. The style sheet decides
    // the height, because rows are higher on a phone.
    const wanted = getComputedStyle(this.root).getPropertyValue('--row');
    this.#heightPx = Number.parseInt(wanted, 10) || 40;
    const { scrollTop, clientHeight } = this.root;
    const height = this.#rows.length * this.#heightPx;
    const top = Math.max(0, Math.min(scrollTop, height - clientHeight));
    const first = Math.max(0, Math.floor(top / this.#heightPx) - spare);
    const count = Math.ceil(clientHeight / this.#heightPx) + 2 * spare;
    this.#spacer.style.height = `${height}px`;
    const drawn = this.#rows.slice(first, first + count).map((row, place) => {
      const index = first + place;
      const target = element('div', {
        class: 'row',
        role: 'option',
        id: `option-${index}`,
        'data-index': String(index),
        'aria-setsize': String(this.#rows.length),
        'aria-posinset': String(index + 1),
        'aria-selected': String(index === this.#selected),
      });
      target.style.top = `${index * this.#heightPx}px`;
      this.#options.draw(row, target);
      return target;
    });
    this.#empty.textContent = this.#rows.length === 0 ? this.#options.emptyText : '';
    this.#spacer.replaceChildren(...drawn);
    if (this.#rows.length === 0) this.root.after(this.#empty);
    else this.#empty.remove();
    if (this.#selected < 0) this.root.removeAttribute('aria-activedescendant');
    else this.root.setAttribute('aria-activedescendant', `option-${this.#selected}`);
  }

  #onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.root.clientHeight / this.#heightPx) - 1);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.#rows.length,
      End: this.#rows.length,
    };
    const by = moves[event.key];
    if (by !== undefined) {
      event.preventDefault();
      this.move(by);
      return;
    }
    const row = this.#rows[this.#selected];
    if (event.key === 'Enter' && row !== undefined) this.#options.onOpen(row);
  }

  #onClick(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target.closest('.row') : null;
    const index = Number(target?.getAttribute('data-index') ?? -1);
    const row = this.#rows[index];
    if (row === undefined) return;
    this.#selected = index;
    this.#draw();
    this.#options.onOpen(row);
  }
}
