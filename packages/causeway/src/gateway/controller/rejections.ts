import type { EndpointErrors } from '../protocol/acknowledgement.ts';
import { endpointKey, type EndpointKey } from '../protocol/endpoint.ts';
import { parseEndpointId } from '../protocol/records.ts';

/** What a gateway found wrong with endpoints, kept until it is told something new about them. */
export class Rejections {
  readonly #byEndpoint = new Map<EndpointKey, readonly string[]>();
  #general: readonly string[] = [];

  /** How many endpoints it complains about. */
  get size(): number {
    return this.#byEndpoint.size;
  }

  /** What belongs to no endpoint, such as a policy that it can't read. */
  get general(): readonly string[] {
    return this.#general;
  }

  about(key: EndpointKey): readonly string[] {
    return this.#byEndpoint.get(key) ?? [];
  }

  /**
   * Takes in the answer to a push that told it about these endpoints, or about all where left out.
   * What it said about others before still holds. Answers with those whose standing has changed.
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
