import fs from 'node:fs/promises';
import type { z } from 'zod';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { CausewayError } from '../error/causeway-error.ts';
import { nearestWord } from '../text/nearest-word.ts';
import { jsonSchemaOf, settingsOf, type Setting } from './settings.ts';

/** Converts the contents of a file in another format; undefined if the file is in Causeway's format. */
export type ConfigConverter = (
  tree: Readonly<Record<string, unknown>>,
) => Record<string, unknown> | undefined;

export interface ConfigSources {
  /** The YAML file, if given. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Values of flags by the flag's name, such as `--metrics-address`. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly convert?: ConfigConverter | undefined;
}

interface SourceFile {
  readonly name: string;
  readonly document: Document;
  readonly lines: LineCounter;
  readonly value: Tree;
}

type Tree = Record<string, unknown>;

/**
 * Reads a command's configuration: flags over environment over file over defaults. Reports all problems at
 * once, each with its place.
 */
export async function loadConfig<Schema extends z.ZodType>(
  schema: Schema,
  sources: ConfigSources,
): Promise<z.output<Schema>> {
  const file = sources.file === undefined ? undefined : await readFile(sources.file);
  const read = file?.value ?? {};
  const tree = sources.convert?.(read) ?? read;
  const origins = new Map<string, string>();
  for (const setting of settingsOf(schema)) {
    const variable = sources.environment[setting.variable];
    if (variable !== undefined) assign(tree, setting, variable, setting.variable, origins);
    const flag = sources.flags[setting.flag];
    if (flag !== undefined) assign(tree, setting, flag, setting.flag, origins);
  }
  const result = schema.safeParse(tree);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => describe(schema, issue, file, origins));
  throw new CausewayError('invalid', `the configuration is not valid:\n  ${problems.join('\n  ')}`);
}

async function readFile(name: string): Promise<SourceFile> {
  const text = await fs.readFile(name, 'utf8').catch((error: unknown) => {
    throw new CausewayError('not-found', `the configuration file ${name} can't be read`, {
      cause: error,
      hint: 'Check the path given with --config.',
    });
  });
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [problem] = document.errors;
  if (problem !== undefined) {
    throw new CausewayError('invalid', `${name} is not valid YAML: ${problem.message}`);
  }
  const value = toJs(document, name);
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    throw new CausewayError('invalid', `${name} must hold settings as "name: value"`);
  }
  return { name, document, lines, value: (value ?? {}) as Tree };
}

function toJs(document: Document, name: string): unknown {
  try {
    return document.toJS() as unknown;
  } catch (cause) {
    // Nested aliases can expand to more data than any file should have.
    throw new CausewayError(
      'invalid',
      `${name} can't be read: its aliases expand to too much data`,
      { cause },
    );
  }
}

function assign(
  tree: Tree,
  setting: Setting,
  value: unknown,
  origin: string,
  origins: Map<string, string>,
): void {
  let branch = tree;
  for (const name of setting.path.slice(0, -1)) {
    const next = branch[name];
    branch[name] = typeof next === 'object' && next !== null ? next : {};
    branch = branch[name] as Tree;
  }
  branch[setting.path.at(-1) ?? ''] = convert(setting, value);
  origins.set(setting.path.join('.'), origin);
}

/** Converts text from a flag or variable to the setting's type. The schema rejects text that does not fit. */
function convert(setting: Setting, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  switch (setting.kind) {
    case 'number':
      return value.trim() === '' || Number.isNaN(Number(value)) ? value : Number(value);
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value;
    case 'list':
      return value === '' ? [] : value.split(',').map((item) => item.trim());
    case 'string':
      return value;
  }
}

function describe(
  schema: z.ZodType,
  issue: z.core.$ZodIssue,
  file: SourceFile | undefined,
  origins: ReadonlyMap<string, string>,
): string[] {
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') {
    return [`${place(path, file, origins)}: ${issue.message}`];
  }
  const known = knownKeys(schema, path);
  return issue.keys.map((key) => {
    const meant = nearestWord(key, known);
    const help = meant === undefined ? `known here: ${known.join(', ')}` : `did you mean ${meant}?`;
    return `${place([...path, key], file, origins)}: unknown key; ${help}`;
  });
}

function knownKeys(schema: z.ZodType, path: readonly string[]): string[] {
  let node: ReturnType<typeof jsonSchemaOf> | undefined = jsonSchemaOf(schema);
  for (const name of path) node = /^\d+$/.test(name) ? node?.items : node?.properties?.[name];
  return Object.keys(node?.properties ?? {});
}

/** `file:line: a.b` for a value from the file, else the name of the flag or variable. */
function place(
  path: readonly string[],
  file: SourceFile | undefined,
  origins: ReadonlyMap<string, string>,
): string {
  const name = path.join('.');
  const origin = origins.get(name);
  if (origin !== undefined) return origin;
  if (file === undefined) return name === '' ? 'configuration' : name;
  const keys = path.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  for (let depth = keys.length; depth >= 0; depth -= 1) {
    const node = file.document.getIn(keys.slice(0, depth), true) as
      | { range?: number[] }
      | undefined;
    const offset = node?.range?.[0];
    if (offset !== undefined) return `${file.name}:${file.lines.linePos(offset).line}: ${name}`;
  }
  return `${file.name}: ${name}`;
}
