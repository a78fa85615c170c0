import type { Actor } from '../actor.ts';
import { isObject, type Answer, type Call } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { badRequest, conflict, notFound } from '../neutron/refusals.ts';
import { readFields, show, type Fields } from '../octavia/fields.ts';
import type { Table } from '../table.ts';

export type Values = Record<string, unknown>;

/** LBaaS v2 is a part of Neutron, so rejections of the shared implementation get Neutron's format. */
export function inNeutronWords(work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 403) throw conflict('OverQuota', error.message);
    if (error.status === 409 && error.message.includes('is immutable')) {
      throw conflict('StateInvalid', error.message.replace('is immutable and', 'is pending and'));
    }
    throw new Refusal(error.status, error.message, {
      type: error.type === 'HTTPBadRequest' ? nameOf(error.status) : error.type,
    });
  }
}

function nameOf(status: number): string {
  if (status === 404) return 'EntityNotFound';
  return status === 409 ? 'EntityExists' : 'HTTPBadRequest';
}

export function entityNotFound(kind: string, id: string): Refusal {
  return notFound('EntityNotFound', `${kind} ${id} could not be found`);
}

export function entityInUse(using: string, id: string, used: string): Refusal {
  return conflict('EntityInUse', `${using} ${id} is using this ${used}`);
}

/** Reads a body with the fields of Mitaka. Other fields are rejected. */
export function readBody(
  call: Call,
  kind: string,
  fields: Fields,
  known: readonly string[],
  mode: 'post' | 'put',
): Values {
  if (call.body.kind === 'malformed') throw badRequest('Body contains invalid data');
  const body = call.body.kind === 'json' && isObject(call.body.value) ? call.body.value : {};
  const inner = body[kind];
  if (!isObject(inner)) throw badRequest(`Unable to find '${kind}' in request body`);
  for (const name of Object.keys(inner)) {
    if (known.includes(name) || name === 'tenant_id') continue;
    throw badRequest(`Unrecognized attribute(s) '${name}'`);
  }
  return readFields(pick(fields, [...known, 'tenant_id']), inner, mode, kind);
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

/** A list in the order of IDs, filtered by equality, with Neutron's pagination. */
export function listViews<T extends { id: string; project_id: string }>(
  rows: readonly T[],
  view: (row: T) => Values,
  collection: string,
  call: Call,
  actor: Actor,
): Answer {
  const auxiliary = ['fields', 'limit', 'marker', 'page_reverse'];
  const filters = [...call.query].filter(([name]) => !auxiliary.includes(name));
  const matching = rows
    .filter((row) => actor.isAdmin || row.project_id === actor.projectId)
    .map(view)
    .filter((item) => filters.every(([name, value]) => show(item[name]) === value))
    .sort((left, right) => (show(left['id']) < show(right['id']) ? -1 : 1));
  const limit = Number(call.query.get('limit') ?? 0);
  if (!(limit > 0)) return { status: 200, body: { [collection]: matching } };
  const marker = call.query.get('marker');
  const start = marker === null ? 0 : matching.findIndex((item) => item['id'] === marker) + 1;
  const page = matching.slice(start, start + limit);
  const query = new URLSearchParams(call.query);
  query.set('marker', show(page.at(-1)?.['id']));
  const next = { rel: 'next', href: `${call.baseUrl}${call.path}?${query.toString()}` };
  const links = page.length < limit ? [] : [next];
  return { status: 200, body: { [collection]: page, [`${collection}_links`]: links } };
}

/**
 * Returns the row if the actor can see it. Unlike Octavia, Neutron answers NotFound for rows of other
 * projects.
 */
export function visibleRow<T extends { id: string; project_id: string }>(
  table: Table<T>,
  kind: string,
  id: string,
  actor: Actor,
): T {
  const row = table.get(id);
  if (row === undefined || (!actor.isAdmin && row.project_id !== actor.projectId)) {
    throw entityNotFound(kind, id);
  }
  return row;
}
