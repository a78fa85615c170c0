/**
 * One form of state that a release leaves behind. `write` makes a sample with the code that writes it in
 * production, `read` says what the code of today takes it for, as plain JSON.
 */
export interface SampleKind {
  readonly name: string;
  readonly write: (directory: string) => Promise<void>;
  /** May write into the directory: it is a copy. */
  readonly read: (directory: string) => Promise<unknown>;
}

/** What stands beside each sample: what it meant to the release that wrote it. */
export const meaningFile = 'meaning.json';

/** A time that every sample uses, so that writing one again changes little. */
export const sampleTime = Date.parse('2026-01-01T00:00:00Z');

/** Maps and sets as JSON has them, undefined left out. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, each: unknown) => {
      if (each instanceof Map) return [...(each as Map<unknown, unknown>)];
      if (each instanceof Set) return [...(each as Set<unknown>)];
      return each;
    }) ?? 'null',
  ) as unknown;
}
