import type { PortRecords } from './port-records.ts';

/** Port records in memory, for tests. */
export class MemoryPortRecords implements PortRecords {
  readonly entries = new Set<string>();

  read(): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(this.entries));
  }

  enter(entries: readonly string[]): Promise<void> {
    for (const entry of entries) this.entries.add(entry);
    return Promise.resolve();
  }

  strike(entries: readonly string[]): Promise<void> {
    for (const entry of entries) this.entries.delete(entry);
    return Promise.resolve();
  }
}
