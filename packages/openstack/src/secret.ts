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

  /** The text with this secret cut out, also as JSON writes it, for what the other side wrote. */
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

/** Shorter secrets would blank out ordinary words; no service echoes a lone one or two characters. */
const shortestRecognised = 3;
