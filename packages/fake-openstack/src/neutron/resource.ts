import type { Actor } from '../actor.ts';
import type { Refusal } from '../http/refusal.ts';
import type { Table } from '../table.ts';
import type { Attributes } from './attributes.ts';
import type { NeutronRow } from './rows.ts';
import type { QuotaName } from './state.ts';

export type Values = Readonly<Record<string, unknown>>;

/**
 * One kind of object: its wire format and its rules. Listing, paging, tags and bulk requests are equal for
 * all kinds and are in `resource-routes.ts`.
 */
export interface Resource<T extends NeutronRow> {
  /** Name in the path, such as `security-groups`. */
  readonly path: string;
  /** Names in the body, such as `security_groups` and `security_group`. */
  readonly collection: string;
  readonly member: string;
  readonly quota: QuotaName;
  readonly table: Table<T>;
  readonly attributes: Attributes;
  /** Attributes that only an administrator can set on creation. */
  readonly adminAttributes?: readonly string[];
  /** List filters in addition to the attributes of the view. */
  readonly filters?: Readonly<Record<string, (row: T, value: string) => boolean>>;
  readonly isVisible: (row: T, actor: Actor) => boolean;
  /** All rows that this actor can see, found by an index if one exists. */
  readonly visible: (actor: Actor) => readonly T[];
  readonly view: (row: T, actor: Actor) => Record<string, unknown>;
  readonly notFound: (id: string) => Refusal;
  readonly create: (values: Values, actor: Actor, projectId: string) => T;
  readonly update: (row: T, values: Values, actor: Actor) => void;
  /** Throws if another object still uses the object. */
  readonly remove: (row: T, actor: Actor) => void;
}

/** Fields that all views share. */
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
