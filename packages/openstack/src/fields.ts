import { type Address, parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { type Port, parsePort } from '@causeway/base/address/port';
import { parseInterface, prefixOf, type Prefix } from '@causeway/base/address/prefix';

/**
 * A JSON object from an external service, read field by field. Unknown fields are ignored; a required field
 * that is missing or has another type is an error that names it. (Handwritten because lists have thousands of
 * objects and parsing blocks the event loop.)
 */
export class Fields {
  readonly #object: Record<string, unknown>;
  readonly #what: string;

  constructor(value: unknown, what: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new CausewayError('unavailable', `the answer has no ${what}`);
    }
    this.#object = value as Record<string, unknown>;
    this.#what = what;
  }

  /** The required object under this key. */
  object(key: string): Fields {
    return new Fields(this.#object[key], `${this.#what}.${key}`);
  }

  optionalObject(key: string): Fields | undefined {
    const value = this.#object[key];
    return value === undefined || value === null
      ? undefined
      : new Fields(value, `${this.#what}.${key}`);
  }

  /** The objects in this list; empty if the list is missing. */
  objects(key: string): Fields[] {
    return this.#list(key).map((value) => new Fields(value, `${this.#what}.${key}[]`));
  }

  string(key: string): string {
    const value = this.#object[key];
    return typeof value === 'string' ? value : this.#missing(key, 'a string');
  }

  optionalString(key: string): string | undefined {
    const value = this.#object[key];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /** The text; empty if the service omits it or sends null. */
  text(key: string): string {
    return this.optionalString(key) ?? '';
  }

  number(key: string): number {
    const value = this.#object[key];
    return typeof value === 'number' ? value : this.#missing(key, 'a number');
  }

  optionalNumber(key: string): number | undefined {
    const value = this.#object[key];
    return typeof value === 'number' ? value : undefined;
  }

  boolean(key: string, otherwise: boolean): boolean {
    const value = this.#object[key];
    return typeof value === 'boolean' ? value : otherwise;
  }

  strings(key: string): string[] {
    return this.#list(key).filter((value) => typeof value === 'string');
  }

  /** The IDs of a list of references, `[{"id": "…"}]`. */
  ids(key: string): string[] {
    return this.objects(key).map((reference) => reference.string('id'));
  }

  address(key: string): Address {
    return parseAddress(this.string(key));
  }

  optionalAddress(key: string): Address | undefined {
    const text = this.optionalString(key);
    return text === undefined ? undefined : parseAddress(text);
  }

  port(key: string): Port {
    return parsePort(this.number(key));
  }

  optionalPort(key: string): Port | undefined {
    const value = this.optionalNumber(key);
    return value === undefined ? undefined : parsePort(value);
  }

  /** A network; a single address is a network of one. Host bits are cleared, as OpenStack does. */
  prefix(key: string): Prefix {
    return loosePrefix(this.string(key));
  }

  optionalPrefix(key: string): Prefix | undefined {
    const text = this.optionalString(key);
    return text === undefined ? undefined : loosePrefix(text);
  }

  stringMap(key: string): Record<string, string> {
    const value = this.#object[key];
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, String(entry)]));
  }

  #list(key: string): unknown[] {
    const value = this.#object[key];
    return Array.isArray(value) ? value : [];
  }

  #missing(key: string, wanted: string): never {
    throw new CausewayError(
      'unavailable',
      `the answer's ${this.#what} has no ${key} that is ${wanted}`,
    );
  }
}

function loosePrefix(text: string): Prefix {
  if (!text.includes('/')) {
    const address = parseAddress(text);
    return { address, length: address.includes(':') ? 128 : 32 };
  }
  const { address, length } = parseInterface(text);
  return prefixOf(address, length);
}
