import type { ProgressListener } from '@causeway/base/work/progress-listener';

/** The terminal of standard error, so that standard output can still be piped. */
interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const width = 24;
const clearLine = '\r\u001b[K';

/** A progress bar in the last line of a terminal. Nothing is drawn without a terminal. */
export class Progress {
  readonly #what: string;
  readonly #total: number;
  readonly #screen: Screen;
  readonly #isShown: boolean;
  #done = 0;

  constructor(what: string, total: number, screen: Screen = process.stderr) {
    this.#what = what;
    this.#total = total;
    this.#screen = screen;
    // A single item needs no bar.
    this.#isShown = screen.isTTY === true && total > 1;
    this.#draw('');
  }

  /** One more item is done. */
  step(name: string): void {
    this.#done += 1;
    this.#draw(name);
  }

  /** Clears the bar for printed text, and draws it again below. */
  around(print: () => void): void {
    this.clear();
    print();
    this.#draw('');
  }

  clear(): void {
    if (this.#isShown) this.#screen.write(clearLine);
  }

  #draw(name: string): void {
    if (!this.#isShown) return;
    const filled = Math.round((this.#done / this.#total) * width);
    const bar = '█'.repeat(filled) + '·'.repeat(width - filled);
    const line = `${this.#what} ${bar} ${this.#done}/${this.#total} ${name}`.trimEnd();
    this.#screen.write(clearLine + line.slice(0, (this.#screen.columns ?? 80) - 1));
  }
}

/** One bar after the other, for work with several parts. */
export class ProgressBars implements ProgressListener {
  readonly #screen: Screen;
  #current: Progress | undefined;

  constructor(screen: Screen = process.stderr) {
    this.#screen = screen;
  }

  begin(what: string, total: number): void {
    this.clear();
    this.#current = new Progress(what, total, this.#screen);
  }

  step(name: string): void {
    this.#current?.step(name);
  }

  clear(): void {
    this.#current?.clear();
  }
}
