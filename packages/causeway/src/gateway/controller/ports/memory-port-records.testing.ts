import type { PortBook } from './port-records.ts';

/** A port book in memory, for tests. */
export class MemoryPortBook implements PortBook {
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
