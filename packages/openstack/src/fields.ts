import { type Address, parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { type Port, parsePort } from '@causeway/base/address/port';
import { parseInterface, prefixOf, type Prefix } from '@causeway/base/address/prefix';

/**
 * A JSON object of a stranger, read field by field. Fields we do not ask for may be there or not;
 * one we need that is missing or of another type is an error that names it. (Written by hand because
 * lists have thousands of objects and every microsecond for each holds the event loop.)
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

  /** The object under this key, which must be there. */
  object(key: string): Fields {
    return new Fields(this.#object[key], `${this.#what}.${key}`);
  }

  optionalObject(key: string): Fields | undefined {
    const value = this.#object[key];
    return value === undefined || value === null
      ? undefined
      : new Fields(value, `${this.#what}.${key}`);
  }

  /** The objects in this list; none when the list is missing. */
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

  /** The text, or an empty one where the service leaves it out or says null. */
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

  /** The ids of a list of references, `[{"id": "…"}]`. */
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

  /** A network; a lone address is a network of one. Host bits are cut off, as OpenStack does. */
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
