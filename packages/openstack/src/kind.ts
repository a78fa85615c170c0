import type { Fields } from './fields.ts';
import type { Route } from './route.ts';
import type { WireTable } from './wire.ts';

/** Description of one kind of object for the client. */
export interface Kind<Resource, Spec, Change, Filter> {
  readonly route: Route;
  /** JSON key of one object and of a list. */
  readonly singular: string;
  readonly plural: string;
  readonly parse: (fields: Fields) => Resource;
  readonly spec: WireTable<Spec>;
  readonly change: WireTable<Change>;
  readonly filter: WireTable<Filter>;
  /** How to find the object of a spec; `by` is the field that the caller keeps unique. */
  readonly identity: (
    spec: Spec,
    by: 'name' | 'description' | undefined,
  ) => Identity<Resource, Filter>;
}

/** A filter that narrows the list, and the test that identifies the object in it. */
export type Identity<Resource, Filter> =
  | { readonly filter: Filter; readonly isSame: (resource: Resource) => boolean }
  | undefined;
