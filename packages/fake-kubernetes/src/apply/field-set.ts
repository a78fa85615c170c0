import { isObject, type JsonObject } from '../object.ts';

/**
 * A set of fields of one object, as a tree. The notation of steps is that of `FieldsV1`:
 * - `f:spec` is a field.
 * - `k:{"port":80}` is the list item with those keys.
 * - `v:"x"` is the list item with that value.
 */
export interface FieldSet {
  /** Whether the set contains the field of this node itself. */
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

const none: ReadonlyMap<string, FieldSet> = new Map();

export const emptySet: FieldSet = { member: false, children: none };

export const leaf: FieldSet = { member: true, children: none };

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** Creates a node and drops empty children. */
export function node(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  const kept = new Map<string, FieldSet>();
  for (const [step, child] of children) if (!isEmpty(child)) kept.set(step, child);
  return { member, children: kept };
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const children = new Map(a.children);
  for (const [step, child] of b.children) {
    const other = children.get(step);
    children.set(step, other === undefined ? child : union(other, child));
  }
  return { member: a.member || b.member, children };
}

/** Returns the fields of `a` that `b` doesn't contain. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  return node(
    a.member && !b.member,
    [...a.children].map(([step, child]) => [
      step,
      difference(child, b.children.get(step) ?? emptySet),
    ]),
  );
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return node(
    a.member && b.member,
    [...a.children].flatMap(([step, child]) => {
      const other = b.children.get(step);
      return other === undefined ? [] : [[step, intersection(child, other)] as const];
    }),
  );
}

/** Returns the set without a top-level field and the fields below it. */
export function without(set: FieldSet, step: string): FieldSet {
  return node(
    set.member,
    [...set.children].filter(([name]) => name !== step),
  );
}

/** Paths of the fields, in the notation of messages: `.spec.ports[port=80,protocol="TCP"].nodePort`. */
export function pathsOf(set: FieldSet, prefix = ''): string[] {
  const own = set.member && prefix !== '' ? [prefix] : [];
  const below = [...set.children].flatMap(([step, child]) =>
    pathsOf(child, prefix + shownStep(step)),
  );
  return [...own, ...below];
}

/** One step in the notation of messages: `.spec`, `[port=80,protocol="TCP"]`, `[="x"]`, `[3]`. */
export function shownStep(step: string): string {
  const content = step.slice(2);
  if (step.startsWith('i:')) return `[${content}]`;
  if (step.startsWith('f:')) return `.${content}`;
  if (step.startsWith('v:')) return `[=${content}]`;
  const keys = JSON.parse(content) as JsonObject;
  return `[${Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',')}]`;
}

export function toFieldsV1(set: FieldSet): JsonObject {
  const result: JsonObject = {};
  if (set.member && set.children.size > 0) result['.'] = {};
  const steps = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [step, child] of steps) result[step] = toFieldsV1(child);
  return result;
}

/** Returns undefined if the value is not in `FieldsV1` format. */
export function fromFieldsV1(value: unknown, isRoot = true): FieldSet | undefined {
  if (!isObject(value)) return undefined;
  const children: [string, FieldSet][] = [];
  for (const [step, below] of Object.entries(value)) {
    if (step === '.') continue;
    const child = fromFieldsV1(below, false);
    if (child === undefined || !isStep(step)) return undefined;
    children.push([step, child]);
  }
  return node((!isRoot && children.length === 0) || Object.hasOwn(value, '.'), children);
}

function isStep(step: string): boolean {
  if (step.startsWith('f:')) return true;
  if (!/^[kvi]:/.test(step)) return false;
  try {
    JSON.parse(step.slice(2));
    return true;
  } catch {
    return false;
  }
}
