import type { KubeObject } from '../object.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { ApiError } from '../status.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** Parses `fieldSelector=`: `metadata.name=x,spec.nodeName!=y`. A backslash escapes `,`, `=` and `\`. */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  return text
    .split(/(?<!\\),/)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const match = /^([^=!]+?)(==|!=|=)(.*)$/s.exec(part);
      if (match === null) {
        throw new ApiError('BadRequest', `invalid selector: '${text}'; can't understand '${part}'`);
      }
      return {
        field: (match[1] ?? '').trim(),
        equal: match[2] !== '!=',
        value: (match[3] ?? '').replaceAll(/\\([\\,=])/g, '$1'),
      };
    });
}

/** All fields of an object that a selector can use. */
export function selectableFields(
  definition: ResourceDefinition,
  object: KubeObject,
): Readonly<Record<string, string>> {
  return {
    ...definition.fieldLabels(object),
    'metadata.name': object.metadata.name,
    ...(definition.namespaced ? { 'metadata.namespace': object.metadata.namespace ?? '' } : {}),
  };
}

/** Rejects a selector with a field that the kind doesn't support. The check uses a blank object. */
export function checkFieldSelector(
  definition: ResourceDefinition,
  requirements: readonly FieldRequirement[],
  blank: KubeObject,
): void {
  const known = selectableFields(definition, blank);
  for (const { field } of requirements) {
    if (Object.hasOwn(known, field)) continue;
    const own = Object.keys(definition.fieldLabels(blank));
    throw new ApiError(
      'BadRequest',
      own.length === 0
        ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
        : `field label not supported: ${field}`,
    );
  }
}

export function matchesFields(
  definition: ResourceDefinition,
  requirements: readonly FieldRequirement[],
  object: KubeObject,
): boolean {
  if (requirements.length === 0) return true;
  const fields = selectableFields(definition, object);
  return requirements.every(({ field, equal, value }) => (fields[field] === value) === equal);
}
