import { inspect } from 'node:util';

const placeholder = '[secret]';

/**
 * A password, key or token. It shows itself only to whoever calls `reveal`: not to JSON, templates,
 * `util.inspect` or a log that serialises the object around it.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  /** The text with this secret cut out, for messages that the other side wrote. */
  removeFrom(text: string): string {
    return this.#value.length < shortestRecognised
      ? text
      : text.replaceAll(this.#value, placeholder);
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

/** Shorter secrets would blank out ordinary words; no service echoes a lone one or two characters. */
const shortestRecognised = 3;
