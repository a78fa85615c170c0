import type { KubeObject } from '../object.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { partialMetadata } from './serialize.ts';

/** How much of each object its row contains. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  readonly includeObject: IncludeObject;
  readonly now: number;
  /** False after the first event of a watch, because only that event contains the headings. */
  readonly withHeadings: boolean;
}

export function columnDefinitions(definition: ResourceDefinition): object[] {
  return definition.columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
}

function row(definition: ResourceDefinition, object: KubeObject, options: TableOptions): object {
  const cells = definition.columns.map((column) => column.cell(object, options.now));
  const conditions = definition.rowConditions?.(object) ?? [];
  return {
    cells,
    ...(conditions.length === 0 ? {} : { conditions }),
    ...rowObject(object, options.includeObject),
  };
}

function rowObject(object: KubeObject, included: IncludeObject): { object?: object } {
  switch (included) {
    case 'None':
      return {};
    case 'Object':
      return { object };
    case 'Metadata':
      return { object: partialMetadata(object) };
  }
}

/** Objects as `kubectl get` prints them. */
export function table(
  definition: ResourceDefinition,
  objects: readonly KubeObject[],
  metadata: object,
  options: TableOptions,
): object {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: options.withHeadings ? columnDefinitions(definition) : null,
    rows: objects.map((object) => row(definition, object, options)),
  };
}
