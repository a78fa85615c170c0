import type { PortRecords } from './port-records.ts';

/** The port records for the port manager: read once and indexed by the IDs of Neutron. */
export class PortRecordCache {
  readonly #records: PortRecords;
  /** The recorded entries. */
  readonly #entries = new Set<string>();
  /** The entry of each known port: its marker, or its ID. */
  readonly #entryOf = new Map<string, string>();
  /** The IDs of ports that were recorded at any time since the start. */
  readonly #past = new Set<string>();
  /** Entries that no port had at the last list. */
  #stale: ReadonlySet<string> = new Set();
  #isRead = false;

  constructor(records: PortRecords) {
    this.#records = records;
  }

  async read(signal: AbortSignal): Promise<void> {
    if (this.#isRead) return;
    await this.#readRecords(signal);
    this.#isRead = true;
  }

  /**
   * Reads the records again if one of these ports is missing: an earlier leader may have added it after this
   * controller read the records.
   */
  async refresh(ports: readonly { readonly id: string }[], signal: AbortSignal): Promise<void> {
    if (ports.every(({ id }) => this.has(id))) return;
    await this.#readRecords(signal);
    for (const { id } of ports) if (this.has(id)) this.#past.add(id);
  }

  async #readRecords(signal: AbortSignal): Promise<void> {
    for (const entry of await this.#records.read(signal)) this.#entries.add(entry);
  }

  /** Stores the entry of a port. Returns the entry. */
  know(id: string, entry: string): string {
    this.#entryOf.set(id, entry);
    if (this.#entries.has(entry)) this.#past.add(id);
    return entry;
  }

  has(id: string): boolean {
    return this.#entries.has(this.#entryOf.get(id) ?? id);
  }

  hasEntry(entry: string): boolean {
    return this.#entries.has(entry);
  }

  /** Whether a port was recorded, also if it is gone now. */
  wasOurs(id: string): boolean {
    return this.#past.has(id);
  }

  /** Called before the port is created. */
  async enterMarker(marker: string): Promise<void> {
    this.#entries.add(marker);
    try {
      await this.#records.enter([marker]);
    } catch (error) {
      this.#entries.delete(marker);
      throw error;
    }
  }

  async enter(ids: readonly string[]): Promise<void> {
    const missing = ids.filter((id) => !this.has(id));
    await this.#records.enter(missing.map((id) => this.#entryOf.get(id) ?? id));
    for (const id of missing) {
      const entry = this.#entryOf.get(id) ?? id;
      this.#entries.add(entry);
      this.know(id, entry);
    }
  }

  /** Called after the port is deleted. */
  async strike(id: string): Promise<void> {
    const entry = this.#entryOf.get(id) ?? id;
    this.#entryOf.delete(id);
    if (!this.#entries.delete(entry)) return;
    await this.#records.strike([entry]);
  }

  /** Removes entries that no port had in two lists: the port was never created, or is gone. */
  async strikeStale(present: ReadonlySet<string>): Promise<void> {
    const stale = new Set([...this.#entries].filter((entry) => !present.has(entry)));
    const gone = [...stale].filter((entry) => this.#stale.has(entry));
    this.#stale = stale;
    if (gone.length === 0) return;
    for (const entry of gone) this.#entries.delete(entry);
    await this.#records.strike(gone);
  }
}
