import type { KubeObject } from '../object.ts';
import { invalid, notSupported, required, type FieldError } from '../schema/field-error.ts';
import { pathSegmentErrors } from '../schema/names.ts';
import { ageColumn, column, createdAtColumn, nameColumn, wideColumn } from './columns.ts';
import { builtIn, type BuiltIn } from './definition.ts';

interface PolicyRule {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

interface Role extends KubeObject {
  rules?: PolicyRule[] | null;
}

interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

interface RoleBinding extends KubeObject {
  roleRef: { apiGroup?: string; kind: string; name: string };
  subjects?: Subject[];
}

const group = 'rbac.authorization.k8s.io';

/** Roles are stored and returned, but the embedded API doesn't enforce them. */
const role = {
  group,
  createsOnUpdate: true,
  nameErrors: pathSegmentErrors,
  columns: [nameColumn, createdAtColumn],
  prepareCreate: fillRules,
  prepareUpdate: fillRules,
} satisfies Partial<BuiltIn<Role>>;

export const roles = builtIn<Role>({
  ...role,
  plural: 'roles',
  kind: 'Role',
  validate: ({ rules }) => validateRules(rules ?? [], true),
});

export const clusterRoles = builtIn<Role>({
  ...role,
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
  validate: ({ rules }) => validateRules(rules ?? [], false),
});

const binding = {
  group,
  createsOnUpdate: true,
  nameErrors: pathSegmentErrors,
  columns: [
    nameColumn,
    column<RoleBinding>('Role', ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`),
    ageColumn,
    wideColumn<RoleBinding>('Users', ({ subjects }) => subjectsOf(subjects, 'User')),
    wideColumn<RoleBinding>('Groups', ({ subjects }) => subjectsOf(subjects, 'Group')),
    wideColumn<RoleBinding>('ServiceAccounts', ({ subjects }) =>
      subjectsOf(subjects, 'ServiceAccount'),
    ),
  ],
  defaults(draft: RoleBinding) {
    draft.roleRef ??= { kind: '', name: '' };
    draft.roleRef.apiGroup ??= group;
    for (const subject of draft.subjects ?? []) {
      if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ??= group;
    }
  },
} satisfies Partial<BuiltIn<RoleBinding>>;

export const roleBindings = builtIn<RoleBinding>({
  ...binding,
  plural: 'rolebindings',
  kind: 'RoleBinding',
  validate: (object, old) => validateBinding(object, old, ['Role', 'ClusterRole']),
});

export const clusterRoleBindings = builtIn<RoleBinding>({
  ...binding,
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
  validate: (object, old) => validateBinding(object, old, ['ClusterRole']),
});

function fillRules(draft: Role): void {
  draft.rules ??= null;
}

function subjectsOf(subjects: readonly Subject[] = [], kind: string): string {
  return subjects
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
    .join(', ');
}

function validateRules(rules: readonly PolicyRule[], isNamespaced: boolean): FieldError[] {
  return rules.flatMap((rule, index) => {
    const path = `rules[${index}]`;
    const { verbs = [], apiGroups = [], resources = [], nonResourceURLs = [] } = rule;
    const errors: FieldError[] = [];
    if (verbs.length === 0) {
      errors.push(required(`${path}.verbs`, 'verbs must contain at least one value'));
    }
    if (nonResourceURLs.length > 0) {
      if (isNamespaced) {
        const detail = 'namespaced rules cannot apply to non-resource URLs';
        errors.push(invalid(`${path}.nonResourceURLs`, nonResourceURLs, detail));
      }
      return errors;
    }
    if (apiGroups.length === 0) {
      const detail = 'resource rules must supply at least one api group';
      errors.push(required(`${path}.apiGroups`, detail));
    }
    if (resources.length === 0) {
      const detail = 'resource rules must supply at least one resource';
      errors.push(required(`${path}.resources`, detail));
    }
    return errors;
  });
}

function validateBinding(
  { roleRef, subjects = [] }: RoleBinding,
  old: RoleBinding | undefined,
  kinds: readonly string[],
): FieldError[] {
  const errors: FieldError[] = [];
  if (roleRef.apiGroup !== group) {
    errors.push(notSupported('roleRef.apiGroup', roleRef.apiGroup ?? '', [group]));
  }
  if (!kinds.includes(roleRef.kind)) {
    errors.push(notSupported('roleRef.kind', roleRef.kind ?? '', kinds));
  }
  if ((roleRef.name ?? '') === '') errors.push(required('roleRef.name'));
  for (const [index, subject] of subjects.entries()) {
    const path = `subjects[${index}]`;
    if ((subject.name ?? '') === '') errors.push(required(`${path}.name`));
    if (!['ServiceAccount', 'User', 'Group'].includes(subject.kind)) {
      const supported = ['ServiceAccount', 'User', 'Group'];
      errors.push(notSupported(`${path}.kind`, subject.kind ?? '', supported));
    }
    const isClusterWide = !kinds.includes('Role');
    if (isClusterWide && subject.kind === 'ServiceAccount' && (subject.namespace ?? '') === '') {
      errors.push(required(`${path}.namespace`));
    }
  }
  const isFixed =
    old === undefined || (old.roleRef.kind === roleRef.kind && old.roleRef.name === roleRef.name);
  if (!isFixed) errors.push(invalid('roleRef', roleRef, 'cannot change roleRef'));
  return errors;
}
