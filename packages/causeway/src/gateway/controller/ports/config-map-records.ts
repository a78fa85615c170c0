import type { KubeClient } from '@causeway/kubernetes/client/client';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { patchOrCreate } from '@causeway/kubernetes/client/patch-or-create';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import { SerialQueue } from '@causeway/base/work/serial-queue';

export interface RecordPlace {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
}

/** How the entries of a record become keys of a ConfigMap, which can't contain colons. */
export interface RecordFormat<Entry extends string> {
  readonly name: string;
  readonly value: string;
  /** Undefined if the key is not an entry of this record. */
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
 * A set in a ConfigMap, one key for each entry. Writes run one after the other and are batched: entries that
 * arrive during a write go into the next, so a thousand Services at once need few writes.
 */
export class ConfigMapRecords<Entry extends string> {
  readonly #place: RecordPlace;
  readonly #format: RecordFormat<Entry>;
  readonly #writes = new SerialQueue();
  #next: Batch<Entry> | undefined;

  constructor(place: RecordPlace, format: RecordFormat<Entry>) {
    this.#place = place;
    this.#format = format;
  }

  /** An unreadable record stops the provider: a missed entry is worse. */
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
    // Without a caller's signal: other callers wait for the same write.
    return withDeadline(clock, limitMs, undefined, `writing ${name}`, (signal) =>
      patchOrCreate(client, configMaps, { metadata: { namespace, name } }, { data }, signal),
    );
  }

  #unreadable(what: string): CausewayError {
    return new CausewayError('invalid', `the ConfigMap ${this.#format.name} has ${what}`, {
      hint: 'A newer Causeway may have written it. It has one key for each assigned address or port.',
    });
  }
}
