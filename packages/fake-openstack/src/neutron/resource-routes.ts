import type { Actor } from '../actor.ts';
import { parameter, type Call, type JsonObject } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { requestObjects, type NeutronApi } from './api.ts';
import { readAttributes } from './attributes.ts';
import { listPage, pickFields } from './listing.ts';
import { enforceQuota } from './quotas.ts';
import { badRequest, disallowed } from './refusals.ts';
import type { Resource } from './resource.ts';
import type { NeutronRow } from './rows.ts';
import { addTagRoutes } from './tag-routes.ts';

/** Routes to list, show, create (one or many), update, delete and tag one kind of object. */
export function addResourceRoutes<T extends NeutronRow>(
  api: NeutronApi,
  resource: Resource<T>,
): void {
  const { path, collection, member } = resource;
  api.route('GET', `/${path}`, (call, actor) => {
    const { items, links } = listPage(resource, call, actor, api.maxPage);
    const more = links === undefined ? {} : { [`${collection}_links`]: links };
    return { status: 200, body: { [collection]: items, ...more } };
  });
  api.route('POST', `/${path}`, (call, actor) => {
    const { isBulk, objects } = requestObjects(call, member, collection);
    const rows = createAll(api, resource, objects, actor);
    const views = rows.map((row) => resource.view(row, actor));
    return { status: 201, body: isBulk ? { [collection]: views } : { [member]: views[0] } };
  });
  // Neutron interprets a missing ID as None.
  api.route('PUT', `/${path}`, () => {
    throw resource.notFound('None');
  });
  api.route('GET', `/${path}/:id`, (call, actor) => {
    const view = resource.view(findRow(resource, call, actor), actor);
    return { status: 200, body: { [member]: pickFields(view, call.query) } };
  });
  api.route('PUT', `/${path}/:id`, (call, actor) => {
    const row = findRow(resource, call, actor);
    const [object = {}] = requestObjects(call, member, collection).objects;
    const values = readAttributes(resource.attributes, object, 'put');
    requireOwner(row, actor, `rule:update_${member}`);
    requireRevision(row, call.headers['if-match']);
    resource.update(row, values, actor);
    resource.table.update(row, api.state.touched(row) as Partial<T>);
    return { status: 200, body: { [member]: resource.view(row, actor) } };
  });
  api.route('DELETE', `/${path}/:id`, (call, actor) => {
    const row = findRow(resource, call, actor);
    requireOwner(row, actor, `rule:delete_${member}`);
    resource.remove(row, actor);
    return { status: 204 };
  });
  addTagRoutes(api, resource);
}

function findRow<T extends NeutronRow>(resource: Resource<T>, call: Call, actor: Actor): T {
  const id = parameter(call, 'id');
  const row = resource.table.get(id);
  if (row === undefined || !resource.isVisible(row, actor)) throw resource.notFound(id);
  return row;
}

/**
 * Actors can see some objects that they don't own: external networks, and Neutron ports on their networks.
 */
function requireOwner(row: NeutronRow, actor: Actor, rule: string): void {
  if (!actor.isAdmin && row.project_id !== actor.projectId) throw disallowed(rule);
}

/** `If-Match: revision_number=7` rejects an update that is based on an older revision. */
function requireRevision({ revision_number }: NeutronRow, ifMatch: string | undefined): void {
  if (ifMatch === undefined) return;
  const [, expected] = /^revision_number=(\d+)$/.exec(ifMatch) ?? [];
  if (expected === undefined) throw badRequest('Invalid If-Match constraint');
  if (Number(expected) === revision_number) return;
  throw new Refusal(412, `Constrained to ${expected}, but current revision is ${revision_number}`, {
    type: 'RevisionNumberConstraintFailed',
  });
}

/** Creates all objects or none. After a failure, created objects are removed. */
function createAll<T extends NeutronRow>(
  api: NeutronApi,
  resource: Resource<T>,
  objects: readonly JsonObject[],
  actor: Actor,
): T[] {
  const requests = objects.map((object) => readCreate(resource, object, actor));
  for (const { projectId } of requests) {
    const amount = requests.filter((request) => request.projectId === projectId).length;
    enforceQuota(api.state, projectId, resource.quota, amount);
  }
  const created: T[] = [];
  try {
    for (const { values, projectId } of requests) {
      created.push(resource.create(values, actor, projectId));
    }
  } catch (error) {
    for (const row of created.toReversed()) resource.remove(row, actor);
    throw error;
  }
  return created;
}

function readCreate<T extends NeutronRow>(
  resource: Resource<T>,
  object: JsonObject,
  actor: Actor,
): { values: Record<string, unknown>; projectId: string } {
  const { project_id, tenant_id, ...rest } = object as Record<string, unknown>;
  const values = readAttributes(resource.attributes, rest, 'post');
  const wanted = project_id ?? tenant_id;
  const projectId = typeof wanted === 'string' ? wanted : actor.projectId;
  if (!actor.isAdmin) {
    if (projectId !== actor.projectId) {
      throw badRequest(
        "Specifying 'project_id' or 'tenant_id' other than the authenticated project in request requires admin or advsvc privileges",
      );
    }
    for (const name of resource.adminAttributes ?? []) {
      if (values[name] === undefined || values[name] === false) continue;
      const rule = `create_${resource.member}`;
      throw disallowed(`(rule:${rule} and rule:${rule}:${name})`);
    }
  }
  return { values, projectId };
}
