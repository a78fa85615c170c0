import { inspect } from 'node:util';

const placeholder = '[secret]';

/**
 * A password, key or token. Only `reveal` returns its value: JSON, templates, `util.inspect` and logs that
 * serialize an object with it do not show it.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  /** The text without this secret, plain or in JSON form. Used for text of the service. */
  removeFrom(text: string): string {
    if (this.#value.length < shortestRecognised) return text;
    const inJson = JSON.stringify(this.#value).slice(1, -1);
    return text.replaceAll(this.#value, () => placeholder).replaceAll(inJson, () => placeholder);
  }

  toString(): string {
    return placeholder;
  }

  toJSON(): string {
    return placeholder;
  }

  [inspect.custom](): string {
    return placeholder;
  }
}

/** Shorter secrets would remove ordinary words; services do not echo one or two characters alone. */
const shortestRecognised = 3;
