import { z } from 'zod';
import { CausewayError } from '../error/causeway-error.ts';

/** One value that a flag or an environment variable can set, found in a command's schema. */
export interface Setting {
  /** The place in the file, such as ['metrics', 'address']. */
  readonly path: readonly string[];
  readonly flag: string;
  readonly variable: string;
  readonly kind: 'string' | 'number' | 'boolean' | 'list';
  readonly description: string;
  readonly defaultValue: unknown;
  readonly choices: readonly string[] | undefined;
}

interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
}

export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

/** All settings of a schema. Lists of objects have no flag and are written in the file. */
export function settingsOf(schema: z.ZodType): Setting[] {
  const settings: Setting[] = [];
  collect(jsonSchemaOf(schema), [], settings);
  const seen = new Set<string>();
  for (const { flag } of settings) {
    if (seen.has(flag)) throw new CausewayError('internal', `two settings share the flag ${flag}`);
    seen.add(flag);
  }
  return settings;
}

function collect(schema: JsonSchema, path: readonly string[], into: Setting[]): void {
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const childPath = [...path, name];
    if (child.properties !== undefined) {
      collect(child, childPath, into);
      continue;
    }
    const kind = settingKind(child);
    if (kind === undefined) continue;
    const words = childPath.map(kebab).join('-');
    into.push({
      path: childPath,
      flag: `--${words}`,
      variable: `CAUSEWAY_${words.replaceAll('-', '_').toUpperCase()}`,
      kind,
      description: child.description ?? '',
      defaultValue: child.default,
      choices: child.enum?.map(String),
    });
  }
}

function settingKind(schema: JsonSchema): Setting['kind'] | undefined {
  if (schema.enum !== undefined) return 'string';
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return schema.items !== undefined && settingKind(schema.items) === 'string'
        ? 'list'
        : undefined;
    default:
      return undefined;
  }
}

export function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
