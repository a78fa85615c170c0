import type { ServerResponse } from 'node:http';
import { CausewayError } from '@causeway/base/error/causeway-error';

const mostListeners = 16;
/** What may wait for a reader before it is let go. One line may be longer. */
const mostWaitingBytes = 1024 * 1024;

/** Controllers that listen for changes. One that does not read as fast as we write is let go. */
export class EventStream {
  readonly #listeners = new Set<ServerResponse>();
  readonly #onChange: () => void;

  /** The callback tells that somebody came or left. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Whether somebody listens: that is how an agent knows that its controller is there. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  add(response: ServerResponse, first: object): void {
    if (this.#listeners.size >= mostListeners) {
      throw new CausewayError('exhausted', 'too many listen already');
    }
    response.writeHead(200, { 'content-type': 'application/jsonl', 'cache-control': 'no-store' });
    response.write(`${JSON.stringify(first)}\n`);
    this.#listeners.add(response);
    response.once('close', () => {
      this.#listeners.delete(response);
      this.#onChange();
    });
    this.#onChange();
  }

  send(event: object): void {
    const line = `${JSON.stringify(event)}\n`;
    for (const response of this.#listeners) {
      if (response.writableLength > mostWaitingBytes) response.destroy();
      else response.write(line);
    }
  }

  close(): void {
    const leaving = [...this.#listeners];
    // What happens from now on is told to nobody.
    this.#listeners.clear();
    for (const response of leaving) response.end();
  }
}
