import type { Actor } from '../actor.ts';
import type { Refusal } from '../http/refusal.ts';
import type { Table } from '../table.ts';
import type { Attributes } from './attributes.ts';
import type { NeutronRow } from './rows.ts';
import type { QuotaName } from './state.ts';

export type Values = Readonly<Record<string, unknown>>;

/**
 * One kind of object: its wire format and its rules. Listing, paging, tags and bulk requests are the
 * same for all kinds and live in `resource-routes.ts`.
 */
export interface Resource<T extends NeutronRow> {
  /** In the path, such as `security-groups`. */
  readonly path: string;
  /** In the body, such as `security_groups` and `security_group`. */
  readonly collection: string;
  readonly member: string;
  readonly quota: QuotaName;
  readonly table: Table<T>;
  readonly attributes: Attributes;
  /** Attributes that need an administrator when they are given in a create. */
  readonly adminAttributes?: readonly string[];
  /** What a list can be narrowed by, beside the attributes of the view. */
  readonly filters?: Readonly<Record<string, (row: T, value: string) => boolean>>;
  readonly isVisible: (row: T, actor: Actor) => boolean;
  /** All rows that this actor may see, found without walking the whole table where possible. */
  readonly visible: (actor: Actor) => readonly T[];
  readonly view: (row: T, actor: Actor) => Record<string, unknown>;
  readonly notFound: (id: string) => Refusal;
  readonly create: (values: Values, actor: Actor, projectId: string) => T;
  readonly update: (row: T, values: Values, actor: Actor) => void;
  /** Throws where something still needs the object. */
  readonly remove: (row: T, actor: Actor) => void;
}

/** The fields that all views have in common. */
export function commonView(row: NeutronRow): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    tenant_id: row.project_id,
    project_id: row.project_id,
    description: row.description,
    tags: row.tags,
    created_at: row.created_at,
    updated_at: row.updated_at,
    revision_number: row.revision_number,
  };
}

export function ownRows<T extends NeutronRow>(table: Table<T>, actor: Actor): readonly T[] {
  return actor.isAdmin ? table.all() : table.sort(table.by('project_id', actor.projectId));
}

export function isOwn(row: NeutronRow, actor: Actor): boolean {
  return actor.isAdmin || row.project_id === actor.projectId;
}
