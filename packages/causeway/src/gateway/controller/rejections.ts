import type { EndpointErrors } from '../protocol/acknowledgement.ts';
import { endpointKey, type EndpointKey } from '../protocol/endpoint.ts';
import { parseEndpointId } from '../protocol/records.ts';

/** A gateway's rejections of endpoints, kept until the next update of these endpoints. */
export class Rejections {
  readonly #byEndpoint = new Map<EndpointKey, readonly string[]>();
  #general: readonly string[] = [];

  /** The number of rejected endpoints. */
  get size(): number {
    return this.#byEndpoint.size;
  }

  /** Problems without an endpoint, such as an unreadable policy. */
  get general(): readonly string[] {
    return this.#general;
  }

  about(key: EndpointKey): readonly string[] {
    return this.#byEndpoint.get(key) ?? [];
  }

  /**
   * Takes the answer to a push of these endpoints, or of all by default. Earlier rejections of other
   * endpoints stay. Returns the endpoints with a changed state.
   */
  take(
    errors: readonly EndpointErrors[],
    touched: ReadonlySet<EndpointKey> | undefined,
  ): ReadonlySet<EndpointKey> {
    const before = new Map(this.#byEndpoint);
    if (touched === undefined) this.#byEndpoint.clear();
    else for (const key of touched) this.#byEndpoint.delete(key);
    this.#general = [];
    for (const { endpoint, errors: lines } of errors) {
      const messages = lines.map(({ message }) => message);
      if (endpoint === null) this.#general = messages;
      else this.#byEndpoint.set(endpointKey(parseEndpointId(endpoint)), messages);
    }
    const changed = new Set<EndpointKey>();
    for (const key of new Set([...before.keys(), ...this.#byEndpoint.keys()])) {
      if (before.get(key)?.join() !== this.#byEndpoint.get(key)?.join()) changed.add(key);
    }
    return changed;
  }
}
