/**
 * One form of state that a release leaves behind. `write` makes a sample with the production code that writes
 * it; `read` returns how the current code reads it, as plain JSON.
 */
export interface SampleKind {
  readonly name: string;
  readonly write: (directory: string) => Promise<void>;
  /** May write into the directory: it is a copy. */
  readonly read: (directory: string) => Promise<unknown>;
}

/** File beside each sample: its meaning to the release that wrote it. */
export const meaningFile = 'meaning.json';

/** A time that every sample uses, so that writing one again changes little. */
export const sampleTime = Date.parse('2026-01-01T00:00:00Z');

/** Maps and sets as JSON, without undefined values. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, each: unknown) => {
      if (each instanceof Map) return [...(each as Map<unknown, unknown>)];
      if (each instanceof Set) return [...(each as Set<unknown>)];
      return each;
    }) ?? 'null',
  ) as unknown;
}
