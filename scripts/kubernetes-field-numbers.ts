import fs from 'node:fs/promises';
import path from 'node:path';
import { runOrThrow } from '../test/services/run-program.ts';

/**
 * The numbers that fields of the built-in types have in protobuf, by type and number. `name` is a field,
 * `name?` a field where the zero value means unset, `+Type` a structure with fields that count as those of
 * the surrounding type.
 */
export type FieldNumbers = Record<string, Record<string, string>>;

/** The Go sources of a published type: its module and the directory in it. */
const packages = [
  ['k8s.io/api', 'io.k8s.api.'],
  ['k8s.io/apimachinery', 'io.k8s.apimachinery.'],
  ['k8s.io/apiextensions-apiserver', 'io.k8s.apiextensions-apiserver.'],
] as const;

const structure = /^type (\w+) struct \{\n([\s\S]*?)^\}/gm;
const plain = /^(string|bool|u?int\d*|float64)$/;

/** Reads the numbers from the struct tags of the Go types that the schemas were published from. */
export async function readFieldNumbers(
  moduleDirectory: string,
  schemaNames: readonly string[],
): Promise<FieldNumbers> {
  const result: FieldNumbers = {};
  for (const [module, prefix] of packages) {
    const root = (
      await runOrThrow('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd: moduleDirectory })
    ).trim();
    const names = schemaNames.filter((name) => name.startsWith(prefix));
    const folders = new Set(names.map((name) => name.slice(0, name.lastIndexOf('.'))));
    for (const folder of folders) {
      const file = path.join(root, ...folder.slice(prefix.length).split('.'), 'types.go');
      const source = await fs.readFile(file, 'utf8').catch(() => '');
      readTypes(source, folder, result);
    }
  }
  return reachable(result, schemaNames);
}

/** The fields of a struct that have a number: one line each, with their tags between backquotes. */
function* fieldsIn(body: string): Iterable<{ goType: string; name: string; number: string }> {
  for (const line of body.split('\n')) {
    const [declaration = '', tags = ''] = line.split('`');
    const words = declaration.trim().split(/ +/);
    const name = /json:"([^",]*)/.exec(tags)?.[1];
    const number = /protobuf:"\w+,(\d+)/.exec(tags)?.[1];
    const goType = words.at(-1);
    if (words.length > 2 || !goType || name === undefined || number === undefined) continue;
    yield { goType, name, number };
  }
}

function readTypes(source: string, folder: string, result: FieldNumbers): void {
  const scalars = new Set(
    [...source.matchAll(/^type (\w+) (\w+)$/gm)]
      .filter(([, , of = '']) => plain.test(of))
      .map(([, name = '']) => name),
  );
  for (const [, type = '', body = ''] of source.matchAll(structure)) {
    const fields: Record<string, string> = {};
    for (const { goType, name, number } of fieldsIn(body)) {
      const bare = goType.replace(/^(v1|metav1)\./, '');
      const isScalar =
        plain.test(goType) || scalars.has(goType) || bare === 'UID' || goType === 'types.UID';
      fields[number] = name === '' ? `+${qualified(goType, folder)}` : isScalar ? `${name}?` : name;
    }
    if (Object.keys(fields).length > 0) result[`${folder}.${type}`] = fields;
  }
}

function qualified(goType: string, folder: string): string {
  const [first = '', second] = goType.replace(/^\*/, '').split('.');
  if (second === undefined) return `${folder}.${first}`;
  return first === 'metav1'
    ? `io.k8s.apimachinery.pkg.apis.meta.v1.${second}`
    : `io.k8s.api.core.v1.${second}`;
}

/** The published types, and the types within them. */
function reachable(all: FieldNumbers, names: readonly string[]): FieldNumbers {
  const result: FieldNumbers = {};
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const fields = all[name];
    if (fields === undefined || result[name] !== undefined) continue;
    result[name] = fields;
    open.push(
      ...Object.values(fields)
        .filter((entry) => entry.startsWith('+'))
        .map((entry) => entry.slice(1)),
    );
  }
  return result;
}
