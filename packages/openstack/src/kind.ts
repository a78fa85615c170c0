import type { Fields } from './fields.ts';
import type { Route } from './route.ts';
import type { WireTable } from './wire.ts';

/** What the client needs to know about one kind of object. */
export interface Kind<Resource, Spec, Change, Filter> {
  readonly route: Route;
  /** The key around one object and around a list. */
  readonly singular: string;
  readonly plural: string;
  readonly parse: (fields: Fields) => Resource;
  readonly spec: WireTable<Spec>;
  readonly change: WireTable<Change>;
  readonly filter: WireTable<Filter>;
  /** How the object of a spec is found again; `by` is the field that its caller keeps unique. */
  readonly identity: (
    spec: Spec,
    by: 'name' | 'description' | undefined,
  ) => Identity<Resource, Filter>;
}

/** A filter that narrows the list, and what then tells the object from its neighbours. */
export type Identity<Resource, Filter> =
  | { readonly filter: Filter; readonly isSame: (resource: Resource) => boolean }
  | undefined;
