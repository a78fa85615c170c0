import { isObject } from '../../object.ts';

/**
 * The supported subset of JSONPath, for printer columns and scale paths: `.a.b`, `['a']`, `[0]`, `[*]`,
 * `[-1]` and filters such as `[?(@.type=="Ready")]`.
 */
type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly path: readonly string[]; readonly value: string };

const pieces =
  /\.?(?<field>[^.[\]]+)|\[(?<index>-?\d+)\]|\[(?<all>\*)\]|\['(?<quoted>[^']+)'\]|\[\?\(@(?<path>(?:\.[\w-]+)+)\s*==\s*(?<value>"[^"]*"|'[^']*'|[^)\s]+)\s*\)\]/y;

/** The steps of a path, or undefined if the path is not supported. */
export function parseJsonPath(text: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  const path = text.replace(/^\{(.*)\}$/, '$1');
  if (!path.startsWith('.') && !path.startsWith('[')) return undefined;
  if (path === '.') return [];
  pieces.lastIndex = 0;
  while (pieces.lastIndex < path.length) {
    const match = pieces.exec(path);
    if (match?.groups === undefined) return undefined;
    steps.push(toStep(match.groups));
  }
  return steps;
}

function toStep(groups: Readonly<Record<string, string | undefined>>): Step {
  const { field, index, all, quoted, path, value } = groups;
  if (index !== undefined) return { kind: 'index', index: Number(index) };
  if (all !== undefined) return { kind: 'all' };
  if (path !== undefined) {
    const text = (value ?? '').replace(/^["'](.*)["']$/, '$1');
    return { kind: 'filter', path: path.slice(1).split('.'), value: text };
  }
  return { kind: 'field', name: field ?? quoted ?? '' };
}

/** All values at the path. */
export function evaluateJsonPath(steps: readonly Step[], root: unknown): unknown[] {
  return steps.reduce<unknown[]>(
    (values, step) =>
      values.flatMap((value) => follow(step, value)).filter((value) => value !== undefined),
    [root],
  );
}

function follow(step: Step, value: unknown): unknown[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  switch (step.kind) {
    case 'field':
      return isObject(value) ? [value[step.name]] : [];
    case 'index':
      return [list.at(step.index)];
    case 'all':
      return isObject(value) ? Object.values(value) : [...list];
    case 'filter':
      return list.filter((item) => String(memberAt(item, step.path)) === step.value);
  }
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), value);
}
