import { isObject } from '../object.ts';

/** Names that CEL reserves: a field with such a name is written `__name__` in a rule. */
const reserved = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function'],
  ...['if', 'import', 'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
]);

/**
 * Turns JSON into a CEL value: whole numbers become integers. A field whose name is not a CEL identifier is
 * also found by its escaped name.
 */
export function toCelValue(json: unknown): unknown {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json;
  if (Array.isArray(json)) return json.map(toCelValue);
  if (!isObject(json)) return json;
  const value: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(json)) {
    const converted = toCelValue(member);
    value[name] = converted;
    const escaped = escapedName(name);
    if (escaped !== name) Object.defineProperty(value, escaped, { value: converted });
  }
  return value;
}

function escapedName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
