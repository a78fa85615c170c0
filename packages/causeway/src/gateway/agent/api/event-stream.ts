import type { ServerResponse } from 'node:http';
import { CausewayError } from '@causeway/base/error/causeway-error';

const mostListeners = 16;
/** Most bytes that are buffered for a reader before it is disconnected. One line may be longer. */
const mostWaitingBytes = 1024 * 1024;

/** Controllers that are subscribed to changes. A subscriber that reads too slowly is disconnected. */
export class EventStream {
  readonly #listeners = new Set<ServerResponse>();
  readonly #onChange: () => void;

  /** `onChange` is called when a subscriber connects or disconnects. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Whether there are subscribers. The agent takes a subscriber as a sign that its controller is present. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  add(response: ServerResponse, first: object): void {
    if (this.#listeners.size >= mostListeners) {
      throw new CausewayError('exhausted', 'too many subscribers');
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
    // Later events are not sent.
    this.#listeners.clear();
    for (const response of leaving) response.end();
  }
}
