import type { KubeObject } from '../object.ts';
import type { Column, ResourceDefinition, ScalePaths, View } from '../resource-definition.ts';
import type { FieldError } from '../schema/field-error.ts';
import { subdomainErrors } from '../schema/names.ts';
import { ageColumn, nameColumn } from './columns.ts';
import { validateFinalizerNames, validateMetadata } from './metadata-rules.ts';

/** Options of a built-in resource. Omitted options have the most common value. */
export interface BuiltIn<T extends KubeObject> {
  readonly group?: string;
  readonly version?: string;
  readonly plural: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced?: boolean;
  readonly statusSubresource?: boolean;
  readonly scale?: ScalePaths;
  readonly view?: View;
  readonly countsGeneration?: boolean;
  readonly countsAnnotations?: boolean;
  /** Returns the errors of a name. Most names are DNS subdomains. */
  readonly nameErrors?: (name: string) => readonly string[];
  readonly defaults?: (draft: T) => void;
  readonly prepareCreate?: (draft: T) => void;
  readonly prepareUpdate?: (draft: T, old: T) => void;
  readonly validate?: (object: T, old: T | undefined) => readonly FieldError[];
  readonly validateStatus?: (object: T, old: T) => readonly FieldError[];
  readonly fieldLabels?: (object: T) => Readonly<Record<string, string>>;
  readonly columns?: readonly Column[];
  readonly rowConditions?: (object: T) => readonly object[];
  readonly deprecation?: string;
  readonly warnings?: (object: T) => readonly string[];
  readonly keepsStatusOnCreate?: boolean;
  readonly createsOnUpdate?: boolean;
  readonly requiresVersionOnUpdate?: boolean;
  readonly deletesCollections?: boolean;
  readonly moreSubresources?: Readonly<Record<string, readonly string[]>>;
  readonly returnsDeleted?: boolean;
  readonly holdsDeletion?: (object: T) => boolean;
  readonly prepareDelete?: (draft: T) => void;
  readonly defaultGracePeriodSeconds?: (object: T) => number;
}

/**
 * Defines a built-in resource. Requests are decoded with the kind's schema before the hooks run, so present
 * fields have the types of T.
 */
export function builtIn<T extends KubeObject>(options: BuiltIn<T>): ResourceDefinition {
  const { nameErrors = subdomainErrors, defaultGracePeriodSeconds } = options;
  return {
    group: options.group ?? '',
    version: options.version ?? 'v1',
    plural: options.plural,
    singular: options.kind.toLowerCase(),
    kind: options.kind,
    shortNames: options.shortNames ?? [],
    categories: options.categories ?? [],
    namespaced: options.namespaced ?? true,
    statusSubresource: options.statusSubresource ?? false,
    ...(options.scale === undefined ? {} : { scale: options.scale }),
    ...(options.view === undefined ? {} : { view: options.view }),
    countsGeneration: options.countsGeneration ?? false,
    countsAnnotations: options.countsAnnotations ?? false,
    defaults: (draft) => options.defaults?.(draft as T),
    prepareCreate: (draft) => options.prepareCreate?.(draft as T),
    prepareUpdate: (draft, old) => options.prepareUpdate?.(draft as T, old as T),
    validate: (object, old) => [
      ...validateMetadata(object, old, nameErrors),
      ...validateFinalizerNames(object),
      ...(options.validate?.(object as T, old as T | undefined) ?? []),
    ],
    validateStatus: (object, old) => [
      ...validateMetadata(object, old, nameErrors),
      ...(options.validateStatus?.(object as T, old as T) ?? []),
    ],
    fieldLabels: (object) => options.fieldLabels?.(object as T) ?? {},
    columns: options.columns ?? [nameColumn, ageColumn],
    rowConditions: (object) => options.rowConditions?.(object as T) ?? [],
    ...(options.deprecation === undefined ? {} : { deprecation: options.deprecation }),
    warnings: (object) => options.warnings?.(object as T) ?? [],
    keepsStatusOnCreate: options.keepsStatusOnCreate ?? false,
    createsOnUpdate: options.createsOnUpdate ?? false,
    requiresVersionOnUpdate: options.requiresVersionOnUpdate ?? false,
    deletesCollections: options.deletesCollections ?? true,
    moreSubresources: options.moreSubresources ?? {},
    returnsDeleted: options.returnsDeleted ?? false,
    holdsDeletion: (object) => options.holdsDeletion?.(object as T) ?? false,
    prepareDelete: (draft) => options.prepareDelete?.(draft as T),
    ...(defaultGracePeriodSeconds === undefined
      ? {}
      : { defaultGracePeriodSeconds: (object) => defaultGracePeriodSeconds(object as T) }),
  };
}
