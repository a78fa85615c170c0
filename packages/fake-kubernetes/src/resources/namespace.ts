import type { KubeObject } from '../object.ts';
import type { FieldError } from '../schema/field-error.ts';
import { dnsLabelErrors } from '../schema/names.ts';
import { ageColumn, column, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import { validateQualifiedName } from './field-rules.ts';

export interface Namespace extends KubeObject {
  spec: { finalizers?: string[] };
  status?: { phase?: string; conditions?: object[] };
}

const nameLabel = 'kubernetes.io/metadata.name';

/**
 * A deletion marks the namespace, which stays `Terminating` while `spec.finalizers` contains `kubernetes`.
 * The namespace controller deletes its content and then removes this finalizer.
 */
export const namespaces = builtIn<Namespace>({
  plural: 'namespaces',
  kind: 'Namespace',
  shortNames: ['ns'],
  namespaced: false,
  statusSubresource: true,
  deletesCollections: false,
  moreSubresources: { finalize: ['update'] },
  nameErrors: dnsLabelErrors,
  columns: [
    nameColumn,
    column<Namespace>('Status', ({ status }) => status?.phase ?? ''),
    ageColumn,
  ],
  fieldLabels: ({ status }) => ({ 'status.phase': status?.phase ?? '' }),
  defaults(draft) {
    draft.spec ??= {};
    const { name } = draft.metadata;
    if (name !== '') draft.metadata.labels = { ...draft.metadata.labels, [nameLabel]: name };
  },
  prepareCreate(draft) {
    const finalizers = draft.spec.finalizers ?? [];
    if (!finalizers.includes('kubernetes')) draft.spec.finalizers = [...finalizers, 'kubernetes'];
    draft.status = { phase: 'Active' };
  },
  holdsDeletion: ({ spec }) => (spec.finalizers ?? []).length > 0,
  prepareDelete(draft) {
    delete draft.metadata.deletionGracePeriodSeconds;
    draft.status = { ...draft.status, phase: 'Terminating' };
  },
  validate(object) {
    return (object.spec.finalizers ?? []).flatMap((finalizer): FieldError[] =>
      validateQualifiedName(finalizer, 'spec.finalizers'),
    );
  },
});
