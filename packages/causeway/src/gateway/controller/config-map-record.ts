import type { KubeClient } from '@causeway/kubernetes/client/client';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { patchOrCreate } from '@causeway/kubernetes/client/patch-or-create';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import { SerialQueue } from '@causeway/base/work/serial-queue';

export interface BookPlace {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
}

/** How the entries of a book become keys of a ConfigMap, which may have no colons. */
export interface BookFormat<Entry extends string> {
  readonly name: string;
  readonly value: string;
  /** Undefined: the key is no entry of this book. */
  readonly parse: (key: string) => Entry | undefined;
  readonly format: (entry: Entry) => string;
}

const versionKey = 'version';
const version = '1';
const limitMs = 10_000;

interface Batch<Entry> {
  readonly changes: Map<Entry, boolean>;
  readonly written: Promise<void>;
}

/**
 * A set that is kept in a ConfigMap, one key for each entry. Writes go one after the other, and what comes while
 * one is under way goes with the next, so that a thousand Services at once are a handful of writes.
 */
export class ConfigMapBook<Entry extends string> {
  readonly #place: BookPlace;
  readonly #format: BookFormat<Entry>;
  readonly #writes = new SerialQueue();
  #next: Batch<Entry> | undefined;

  constructor(place: BookPlace, format: BookFormat<Entry>) {
    this.#place = place;
    this.#format = format;
  }

  /** A book that can't be read stops everything: an entry that is missed is worse. */
  async read(signal: AbortSignal): Promise<ReadonlySet<Entry>> {
    const { client, namespace } = this.#place;
    const { name, parse } = this.#format;
    const { data = {} } = (await client.find(configMaps, { namespace, name }, { signal })) ?? {};
    const { [versionKey]: written, ...rest } = data;
    if (written !== undefined && written !== version) throw this.#unreadable(`version ${written}`);
    const entries = new Set<Entry>();
    for (const key of Object.keys(rest)) {
      const entry = parse(key);
      if (entry === undefined) throw this.#unreadable(`the key ${key}`);
      entries.add(entry);
    }
    return entries;
  }

  async enter(entries: readonly Entry[]): Promise<void> {
    if (entries.length > 0) await this.#change(entries, true);
  }

  async strike(entries: readonly Entry[]): Promise<void> {
    if (entries.length > 0) await this.#change(entries, false);
  }

  #change(entries: readonly Entry[], isEntered: boolean): Promise<void> {
    this.#next ??= this.#newBatch();
    for (const entry of entries) this.#next.changes.set(entry, isEntered);
    return this.#next.written;
  }

  #newBatch(): Batch<Entry> {
    const changes: Batch<Entry>['changes'] = new Map();
    const written = this.#writes.run(() => {
      this.#next = undefined;
      return this.#write(changes);
    });
    return { changes, written };
  }

  #write(changes: Batch<Entry>['changes']): Promise<void> {
    const { client, namespace, clock } = this.#place;
    const { name, value, format } = this.#format;
    const data: Record<string, string | null> = { [versionKey]: version };
    for (const [entry, isEntered] of changes) data[format(entry)] = isEntered ? value : null;
    // No caller's signal: what one of them gives up the others still wait for.
    return withDeadline(clock, limitMs, undefined, `writing ${name}`, (signal) =>
      patchOrCreate(client, configMaps, { metadata: { namespace, name } }, { data }, signal),
    );
  }

  #unreadable(what: string): CausewayError {
    return new CausewayError('invalid', `the ConfigMap ${this.#format.name} has ${what}`, {
      hint: 'A newer Causeway may have written it. It holds one key for each address or port that is given out.',
    });
  }
}
