import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../object.ts';
import { ApiError } from '../status.ts';
import { parsePointer, valueAt } from './json-pointer.ts';

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/**
 * Applies an RFC 6902 patch to a copy of the document. A patch that can't be applied gives 422, a malformed
 * patch 400.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw new ApiError('BadRequest', 'error decoding patch: the patch is not a list of operations');
  }
  const holder = { root: structuredClone(document) };
  for (const operation of patch as readonly unknown[]) {
    if (!isOperation(operation)) {
      throw new ApiError('BadRequest', 'error decoding patch: an operation needs "op" and "path"');
    }
    applyOperation(holder, operation);
  }
  return holder.root;
}

function isOperation(value: unknown): value is Operation {
  return isObject(value) && typeof value['op'] === 'string' && typeof value['path'] === 'string';
}

interface Holder {
  root: unknown;
}

function applyOperation(holder: Holder, operation: Operation): void {
  const { op, path } = operation;
  switch (op) {
    case 'add':
      add(holder, path, structuredClone(operation.value));
      return;
    case 'remove':
      remove(holder, path, op);
      return;
    case 'replace':
      if (path !== '') remove(holder, path, op);
      add(holder, path, structuredClone(operation.value));
      return;
    case 'move':
      add(holder, path, remove(holder, operation.from ?? '', op));
      return;
    case 'copy':
      add(holder, path, structuredClone(existing(holder, operation.from ?? '', op)));
      return;
    case 'test':
      if (!isDeepStrictEqual(valueAt(holder.root, steps(path)), operation.value ?? undefined)) {
        throw refused(`testing value ${path} failed`);
      }
      return;
    default:
      throw refused(`Unexpected kind: ${op}`);
  }
}

function add(holder: Holder, path: string, value: unknown): void {
  const all = steps(path);
  const last = all.pop();
  if (last === undefined) {
    holder.root = value;
    return;
  }
  const parent = valueAt(holder.root, all);
  if (Array.isArray(parent)) {
    const index = last === '-' ? parent.length : Number(last);
    if (!Number.isInteger(index) || index < 0 || index > parent.length) {
      throw refused(`Unable to access invalid index: ${last}: add operation does not apply`);
    }
    parent.splice(index, 0, value);
  } else if (isObject(parent)) {
    parent[last] = value;
  } else {
    throw refused(`add operation does not apply: doc is missing path: "${path}": missing value`);
  }
}

function remove(holder: Holder, path: string, op: string): unknown {
  const all = steps(path);
  const removed = existing(holder, path, op);
  const last = all.pop();
  const parent = valueAt(holder.root, all);
  if (last === undefined) throw refused(`${op} operation does not apply to the whole document`);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (isObject(parent)) delete parent[last];
  return removed;
}

function existing(holder: Holder, path: string, op: string): unknown {
  const value = valueAt(holder.root, steps(path));
  if (value === undefined) {
    throw refused(`${op} operation does not apply: doc is missing path: ${path}: missing value`);
  }
  return value;
}

function steps(path: string): string[] {
  const parsed = parsePointer(path);
  if (parsed === undefined) throw refused(`"${path}" is not a JSON pointer`);
  return parsed;
}

/** The response hides the reason, like that of a real server. */
const refused = (why: string) =>
  new ApiError(
    'Invalid',
    'the server rejected our request due to an error in our request',
    {},
    why,
  );
