import type { KubeObject } from '../object.ts';
import type { Column } from '../resource-definition.ts';
import { humanDuration } from './human-duration.ts';

type Cell<T extends KubeObject> = (object: T, now: number) => string | number;

/** A column that is always shown. */
export function column<T extends KubeObject = KubeObject>(name: string, cell: Cell<T>): Column {
  return describe(name, 'string', 0, cell);
}

export function countColumn<T extends KubeObject = KubeObject>(
  name: string,
  cell: Cell<T>,
): Column {
  return describe(name, 'integer', 0, cell);
}

/** A column that only `-o wide` shows. */
export function wideColumn<T extends KubeObject = KubeObject>(name: string, cell: Cell<T>): Column {
  return describe(name, 'string', 1, cell);
}

function describe<T extends KubeObject>(
  name: string,
  type: 'string' | 'integer',
  priority: number,
  cell: Cell<T>,
): Column {
  return {
    name,
    type,
    format: '',
    description: '',
    priority,
    cell: (object, now) => cell(object as T, now),
  };
}

export const nameColumn: Column = {
  ...column('Name', (object) => object.metadata.name),
  format: 'name',
};

export const ageColumn: Column = column('Age', (object, now) =>
  timeSince(object.metadata.creationTimestamp, now),
);

/** Creation time, for kinds that show the time and let the client calculate the age. */
export const createdAtColumn: Column = {
  ...column('Created At', (object) => object.metadata.creationTimestamp),
  type: 'date',
};

/** Time since a timestamp; `<unknown>` without a timestamp. */
export function timeSince(timestamp: string | undefined, now: number): string {
  const time = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(time) ? '<unknown>' : humanDuration(now - time);
}

/** The printed form of labels: `a=1,b=2`, or `<none>`. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort();
  return pairs.length === 0 ? '<none>' : pairs.join(',');
}
