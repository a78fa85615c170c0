import type { KubeObject } from '../object.ts';
import { forbidden, invalid, required, Verbatim, type FieldError } from '../schema/field-error.ts';
import { jsonEqual } from '../schema/json.ts';
import { dnsLabelErrors } from '../schema/names.ts';
import { ageColumn, column, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import { validateNotNegative, validateOneOf } from './field-rules.ts';
import { defaultPodTemplate } from './pod/pod-defaults.ts';
import { containerColumns, validateSelector, validateTemplate, workloadScale } from './workload.ts';
import type { StatefulSet } from './workload-type.ts';

export const statefulSets = builtIn<StatefulSet>({
  group: 'apps',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  shortNames: ['sts'],
  categories: ['all'],
  statusSubresource: true,
  countsGeneration: true,
  nameErrors: dnsLabelErrors,
  scale: workloadScale,
  columns: [
    nameColumn,
    column<StatefulSet>(
      'Ready',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`,
    ),
    ageColumn,
    ...containerColumns,
  ],
  defaults(draft) {
    draft.spec ??= {} as StatefulSet['spec'];
    const { spec } = draft;
    spec.replicas ??= 1;
    spec.podManagementPolicy ??= 'OrderedReady';
    spec.revisionHistoryLimit ??= 10;
    spec.updateStrategy ??= { type: 'RollingUpdate' };
    spec.updateStrategy.type ??= 'RollingUpdate';
    if (spec.updateStrategy.type === 'RollingUpdate') {
      spec.updateStrategy.rollingUpdate ??= {};
      spec.updateStrategy.rollingUpdate.partition ??= 0;
    }
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= 'Retain';
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= 'Retain';
    spec.template ??= { spec: { containers: [] } };
    defaultPodTemplate(spec.template);
    for (const claim of spec.volumeClaimTemplates ?? []) {
      claim.apiVersion ??= 'v1';
      claim.kind ??= 'PersistentVolumeClaim';
      claim.spec ??= {};
      claim.spec.volumeMode ??= 'Filesystem';
      claim.status ??= { phase: 'Pending' };
    }
  },
  prepareCreate(draft) {
    draft.status = { replicas: 0, availableReplicas: 0 };
  },
  validate(object, old) {
    const { spec } = object;
    return [
      ...validatePolicies(spec),
      ...validateNotNegative(spec.replicas, 'spec.replicas'),
      ...validateNotNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...validateNotNegative(spec.ordinals?.start, 'spec.ordinals.start'),
      ...(spec.serviceName === undefined ? [] : dnsLabelErrors(spec.serviceName)).map((why) =>
        invalid('spec.serviceName', spec.serviceName, why),
      ),
      ...validateSelector(spec.selector, 'statefulset'),
      ...validateTemplate(withClaims(spec), spec.selector, 'StatefulSet'),
      ...(old === undefined ? [] : validateStatefulSetUpdate(spec, old.spec)),
    ];
  },
});

/** Volume mounts can refer to the volumes of volume claim templates. */
function withClaims(spec: StatefulSet['spec']): StatefulSet['spec']['template'] {
  const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata?.name ?? '',
  }));
  const names = new Set(claims.map(({ name }) => name));
  const rest = (spec.template.spec.volumes ?? []).filter(({ name }) => !names.has(name));
  return { ...spec.template, spec: { ...spec.template.spec, volumes: [...claims, ...rest] } };
}

function validatePolicies(spec: StatefulSet['spec']): FieldError[] {
  const errors: FieldError[] = [];
  const policy = spec.podManagementPolicy ?? '';
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    const detail = "must be 'OrderedReady' or 'Parallel'";
    errors.push(invalid('spec.podManagementPolicy', policy, detail));
  }
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type === 'RollingUpdate') {
    errors.push(
      ...validateNotNegative(
        rollingUpdate?.partition,
        'spec.updateStrategy.rollingUpdate.partition',
      ),
    );
  } else if (type !== 'OnDelete') {
    const detail = "must be 'RollingUpdate' or 'OnDelete'";
    const shown = new Verbatim(`{"Type":${JSON.stringify(type)},"RollingUpdate":null}`);
    errors.push(invalid('spec.updateStrategy', shown, detail));
  } else if (rollingUpdate !== undefined) {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    const { partition = 0, maxUnavailable = null } = rollingUpdate;
    const shown = `{"Partition":${partition},"MaxUnavailable":${JSON.stringify(maxUnavailable)}}`;
    errors.push(invalid('spec.updateStrategy.rollingUpdate', new Verbatim(shown), detail));
  }
  const retention = spec.persistentVolumeClaimRetentionPolicy ?? {};
  for (const name of ['whenDeleted', 'whenScaled'] as const) {
    const path = `spec.persistentVolumeClaimRetentionPolicy.${name}`;
    errors.push(...validateOneOf(retention[name], ['Retain', 'Delete'], path));
  }
  return errors;
}

const changeable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

function validateStatefulSetUpdate(
  spec: StatefulSet['spec'],
  old: StatefulSet['spec'],
): FieldError[] {
  const fixed = (given: StatefulSet['spec']) =>
    Object.fromEntries(
      Object.entries(given).filter(([name]) => !changeable.some((one) => one === name)),
    );
  if (jsonEqual(fixed(spec), fixed(old))) return [];
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [forbidden('spec', detail)];
}

interface ControllerRevision extends KubeObject {
  revision?: number;
  data?: object;
}

/** Templates of a StatefulSet's pods, one revision for each version. */
export const controllerRevisions = builtIn<ControllerRevision>({
  group: 'apps',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  validate: ({ data }) => (data === undefined ? [required('data', 'data is mandatory')] : []),
  columns: [
    nameColumn,
    column<ControllerRevision>('Controller', ({ metadata }) => {
      const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
      if (owner === undefined) return '<none>';
      const group = owner.apiVersion.split('/').length === 2 ? owner.apiVersion.split('/')[0] : '';
      const kind = owner.kind.toLowerCase();
      return `${group === '' ? kind : `${kind}.${group}`}/${owner.name}`;
    }),
    column<ControllerRevision>('Revision', ({ revision }) => revision ?? 0),
    ageColumn,
  ],
});
