import { CausewayError } from '@causeway/base/error/causeway-error';
import { withDeadline } from '@causeway/base/time/deadline';
import type { CallOptions, CreateOptions, Deletion, UpdateOptions } from './call.ts';
import { createOnce } from './create-once.ts';
import { Fields } from './fields.ts';
import { item } from './route.ts';
import type { ServiceClient } from './service-client.ts';
import { toQuery, toWire } from './wire.ts';
import type { Kind } from './kind.ts';

/** All objects of one kind: list, read, create, change and delete them. */
export class Collection<
  Resource extends { readonly id: string },
  Spec extends object,
  Change extends object,
  Filter extends object,
> {
  protected readonly client: ServiceClient;
  protected readonly kind: Kind<Resource, Spec, Change, Filter>;

  constructor(client: ServiceClient, kind: Kind<Resource, Spec, Change, Filter>) {
    this.client = client;
    this.kind = kind;
  }

  get pace(): Pick<ServiceClient, 'clock' | 'random'> {
    return this.client;
  }

  list(filter: Filter, call: CallOptions): AsyncGenerator<Resource> {
    const { route, plural, parse } = this.kind;
    return this.client.list(route, plural, parse, call, toQuery(this.kind.filter, filter));
  }

  get(id: string, call: CallOptions): Promise<Resource> {
    return this.client.get(item(this.kind.route, id), this.#parseOne, call);
  }

  /** Runs several requests with one deadline. */
  within<T>(
    call: CallOptions,
    what: string,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, deadlineMs } = this.client;
    return withDeadline(clock, call.deadlineMs ?? deadlineMs, call.signal, what, work);
  }

  create(spec: Spec, call: CreateOptions): Promise<Resource> {
    const { route, singular } = this.kind;
    const body = { [singular]: toWire(this.kind.spec, spec) };
    const { clock, random } = this.client;
    return this.within(call, `creating a ${singular}`, (signal) => {
      const inner = { ...call, signal };
      return createOnce(
        {
          create: () => this.client.post(route, body, this.#parseOne, inner),
          find: this.#finder(spec, inner),
          mayExist: call.mayExist ?? false,
        },
        { clock, random, signal },
      );
    });
  }

  /**
   * Creates several objects in one request. After a lost answer, objects that exist are kept and only the
   * rest is requested again, because not every plugin creates all or nothing.
   */
  createMany(specs: readonly Spec[], call: CreateOptions): Promise<Resource[]> {
    const { clock, random } = this.client;
    const made = new Map<Spec, Resource>();
    if (specs.length === 0) return Promise.resolve([]);
    return this.within(call, `creating ${this.kind.plural}`, (signal) => {
      const inner = { ...call, signal };
      const missing = () => specs.filter((spec) => !made.has(spec));
      const all = () => specs.flatMap((spec) => made.get(spec) ?? []);
      const findable = specs.every((spec) => this.#finder(spec, inner) !== undefined);
      const check = async () => {
        for (const spec of missing()) {
          const found = await this.#finder(spec, inner)?.();
          if (found !== undefined) made.set(spec, found);
        }
        return missing().length === 0 ? all() : undefined;
      };
      const create = async () => {
        const wanted = missing();
        const created = await this.#postMany(wanted, inner);
        for (const [index, spec] of wanted.entries()) {
          const resource = created[index];
          if (resource !== undefined) made.set(spec, resource);
        }
        return all();
      };
      const find = findable ? check : undefined;
      return createOnce(
        { create, find, mayExist: call.mayExist ?? false },
        { clock, random, signal },
      );
    });
  }

  update(id: string, change: Change, { ifRevision, ...call }: UpdateOptions): Promise<Resource> {
    const body = { [this.kind.singular]: toWire(this.kind.change, change) };
    const headers = ifRevision === undefined ? {} : { 'if-match': `revision_number=${ifRevision}` };
    return this.client.put(item(this.kind.route, id), body, this.#parseOne, call, headers);
  }

  delete(id: string, call: CallOptions): Promise<Deletion> {
    return this.client.delete(item(this.kind.route, id), call);
  }

  /** For a delete that must not be sent twice: a lost answer is an error, with `outcome: 'unknown'`. */
  deleteOnce(id: string, call: CallOptions, query?: URLSearchParams): Promise<Deletion> {
    return this.client.deleteOnce(item(this.kind.route, id), call, query);
  }

  readonly #parseOne = (value: unknown): Resource =>
    this.kind.parse(new Fields(value, 'answer').object(this.kind.singular));

  async #postMany(specs: readonly Spec[], call: CallOptions): Promise<Resource[]> {
    const { route, plural, parse } = this.kind;
    const body = { [plural]: specs.map((spec) => toWire(this.kind.spec, spec)) };
    const parseAll = (value: unknown) => new Fields(value, 'answer').objects(plural).map(parse);
    const created = await this.client.post(route, body, parseAll, call);
    if (created.length === specs.length) return created;
    throw new CausewayError(
      'unavailable',
      `the service answered with ${created.length} ${plural} instead of ${specs.length}`,
    );
  }

  #finder(spec: Spec, call: CreateOptions): (() => Promise<Resource | undefined>) | undefined {
    const identity = this.kind.identity(spec, call.once);
    if (identity === undefined) return undefined;
    return async () => {
      for await (const candidate of this.list(identity.filter, call)) {
        if (identity.isSame(candidate)) return candidate;
      }
      return undefined;
    };
  }
}
