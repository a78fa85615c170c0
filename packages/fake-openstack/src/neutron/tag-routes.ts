import type { Actor } from '../actor.ts';
import { isObject, parameter, type Call } from '../http/call.ts';
import type { NeutronApi } from './api.ts';
import { show } from './attributes.ts';
import { invalidInput, notFound } from './refusals.ts';
import type { Resource } from './resource.ts';
import type { NeutronRow } from './rows.ts';

/** Routes for the tags of an object, one by one or all at once. */
export function addTagRoutes<T extends NeutronRow>(api: NeutronApi, resource: Resource<T>): void {
  const base = `/${resource.path}/:id/tags`;
  const find = (call: Call, actor: Actor): T => {
    const id = parameter(call, 'id');
    const row = resource.table.get(id);
    if (row === undefined || !resource.isVisible(row, actor)) {
      const message = `Resource ${resource.path} ${id} could not be found.`;
      throw notFound('TagResourceNotFound', message);
    }
    return row;
  };
  const write = (row: T, tags: string[]) => {
    resource.table.update(row, { tags, ...api.state.touched(row) } as Partial<T>);
  };
  api.route('GET', base, (call, actor) => ({
    status: 200,
    body: { tags: find(call, actor).tags },
  }));
  api.route('PUT', base, (call, actor) => {
    const row = find(call, actor);
    write(row, readTags(call));
    return { status: 200, body: { tags: row.tags } };
  });
  api.route('DELETE', base, (call, actor) => {
    write(find(call, actor), []);
    return { status: 204 };
  });
  api.route('GET', `${base}/:tag`, (call, actor) => {
    existingTag(find(call, actor), parameter(call, 'tag'));
    return { status: 204 };
  });
  api.route('PUT', `${base}/:tag`, (call, actor) => {
    const row = find(call, actor);
    const tag = checkLength(parameter(call, 'tag'));
    if (!row.tags.includes(tag)) write(row, [...row.tags, tag]);
    return { status: 201, body: null };
  });
  api.route('DELETE', `${base}/:tag`, (call, actor) => {
    const row = find(call, actor);
    const tag = existingTag(row, parameter(call, 'tag'));
    write(
      row,
      row.tags.filter((other) => other !== tag),
    );
    return { status: 204 };
  });
}

function existingTag(row: NeutronRow, tag: string): string {
  if (!row.tags.includes(tag)) throw notFound('TagNotFound', `Tag ${tag} could not be found.`);
  return tag;
}

function readTags(call: Call): string[] {
  const body = call.body.kind === 'json' ? call.body.value : undefined;
  const tags = isObject(body) ? body['tags'] : undefined;
  if (tags === undefined) throw invalidInput('Invalid tags body.');
  if (!Array.isArray(tags)) throw invalidInput(`'${show(tags)}' is not a list.`);
  const seen = new Set<string>();
  for (const tag of tags as unknown[]) {
    if (typeof tag !== 'string') throw invalidInput(`'${show(tag)}' is not a valid string.`);
    if (seen.has(checkLength(tag))) throw invalidInput(`Duplicate items in the list: '${tag}'.`);
    seen.add(tag);
  }
  return [...seen];
}

function checkLength(tag: string): string {
  if (tag.length > 255) throw invalidInput(`'${tag}' exceeds maximum length of 255.`);
  return tag;
}
