import type { Clock } from '@causeway/base/time/clock';
import type { ResourceDefinition } from '../../resource-definition.ts';
import type { FieldError } from '../../schema/field-error.ts';
import { invalid } from '../../schema/field-error.ts';
import type { ObjectStore } from '../../store.ts';
import { createdAtColumn, nameColumn } from '../columns.ts';
import { builtIn } from '../definition.ts';
import type { Condition } from '../workload-type.ts';
import {
  cleanupFinalizer,
  definitionsResource,
  hasCrdCondition,
  type CrdNames,
  type CustomResourceDefinition,
} from './crd-type.ts';
import { crdNameErrors, validateCrd } from './crd-validation.ts';

/**
 * The kind that defines custom resources. The names are accepted and the resource is established within the
 * write; a real server needs some milliseconds more.
 */
export function customResourceDefinitions(store: ObjectStore, clock: Clock): ResourceDefinition {
  const now = () => `${new Date(clock.wallTime()).toISOString().slice(0, 19)}Z`;
  return builtIn<CustomResourceDefinition>({
    group: 'apiextensions.k8s.io',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    namespaced: false,
    statusSubresource: true,
    countsGeneration: true,
    requiresVersionOnUpdate: true,
    nameErrors: () => [],
    columns: [nameColumn, createdAtColumn],
    defaults: fillNames,
    prepareCreate(draft) {
      draft.status = acceptedStatus(draft, undefined, store, now());
    },
    prepareUpdate(draft, old) {
      if (draft.metadata.deletionTimestamp !== undefined) return;
      draft.status = acceptedStatus(draft, old, store, now());
    },
    prepareDelete(draft) {
      const others = draft.metadata.finalizers ?? [];
      draft.metadata.finalizers = [...new Set([...others, cleanupFinalizer])];
      draft.status = { ...draft.status, conditions: terminating(draft, now()) };
    },
    validate(crd, old): FieldError[] {
      const { name } = crd.metadata;
      const wrongName =
        old === undefined
          ? crdNameErrors(crd).map((why) => invalid('metadata.name', name, why))
          : [];
      return [...wrongName, ...validateCrd(crd, old)];
    },
  });
}

function fillNames(draft: CustomResourceDefinition): void {
  draft.spec ??= {} as CustomResourceDefinition['spec'];
  const { spec } = draft;
  spec.names ??= { plural: '', kind: '' };
  const { names } = spec;
  if ((names.kind ?? '') !== '') {
    names.singular ??= names.kind.toLowerCase();
    names.listKind ??= `${names.kind}List`;
  }
  spec.conversion ??= { strategy: 'None' };
}

function acceptedStatus(
  crd: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  store: ObjectStore,
  time: string,
): NonNullable<CustomResourceDefinition['status']> {
  const storage = crd.spec.versions?.find((version) => version.storage)?.name;
  const stored = old?.status?.storedVersions ?? [];
  const storedVersions =
    storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
  const conflict = findConflict(crd, store);
  const had = old?.status?.conditions ?? [];
  const accepted: Condition =
    conflict === undefined
      ? {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        }
      : { type: 'NamesAccepted', status: 'False', ...conflict };
  const isEstablished =
    conflict === undefined || (old !== undefined && hasCrdCondition(old, 'Established'));
  const established: Condition = isEstablished
    ? {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      }
    : {
        type: 'Established',
        status: 'False',
        reason: 'NotAccepted',
        message: 'not all names are accepted',
      };
  const conditions = [accepted, established].reduce(
    (all, condition) => withCondition(all, condition, time),
    had,
  );
  const acceptedNames =
    conflict === undefined ? { ...crd.spec.names } : (old?.status?.acceptedNames ?? {});
  return { acceptedNames, conditions, storedVersions };
}

function withCondition(
  conditions: readonly Condition[],
  condition: Condition,
  time: string,
): Condition[] {
  const had = conditions.find(({ type }) => type === condition.type);
  const isSame = had?.status === condition.status;
  const lastTransitionTime = isSame ? (had.lastTransitionTime ?? time) : time;
  const next = { lastTransitionTime, ...condition };
  return had === undefined
    ? [...conditions, next]
    : conditions.map((one) => (one === had ? next : one));
}

function terminating(crd: CustomResourceDefinition, time: string): Condition[] {
  return withCondition(
    crd.status?.conditions ?? [],
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message:
        'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    time,
  );
}

/** Two resources of a group must not share a name of any kind. */
function findConflict(
  crd: CustomResourceDefinition,
  store: ObjectStore,
): { reason: string; message: string } | undefined {
  const others = store
    .list(definitionsResource)
    .map((object) => object as CustomResourceDefinition)
    .filter(
      ({ metadata, spec }) => metadata.name !== crd.metadata.name && spec.group === crd.spec.group,
    );
  const taken = others.flatMap(({ status }) => resourceNames(status?.acceptedNames ?? {}));
  const kinds = others.flatMap(({ status }) => [
    status?.acceptedNames?.kind ?? '',
    status?.acceptedNames?.listKind ?? '',
  ]);
  const { names } = crd.spec;
  const checks: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['PluralConflict', [names.plural], taken],
    ['SingularConflict', [names.singular ?? ''], taken],
    ['ShortNamesConflict', names.shortNames ?? [], taken],
    ['KindConflict', [names.kind], kinds],
    ['ListKindConflict', [names.listKind ?? ''], kinds],
  ];
  for (const [reason, wanted, used] of checks) {
    const clash = wanted.find((name) => name !== '' && used.includes(name));
    if (clash !== undefined)
      return { reason, message: `${JSON.stringify(clash)} is already in use` };
  }
  return undefined;
}

function resourceNames(names: Partial<CrdNames>): string[] {
  return [names.plural, names.singular, ...(names.shortNames ?? [])].filter(
    (name) => name !== undefined,
  );
}
