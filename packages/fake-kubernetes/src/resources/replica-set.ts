import { ageColumn, countColumn, nameColumn, wideColumn, formatLabels } from './columns.ts';
import { builtIn } from './definition.ts';
import { validateNotNegative, validateUnchanged } from './field-rules.ts';
import { validateLabels } from './label-selector.ts';
import { required } from '../schema/field-error.ts';
import { defaultPodTemplate } from './pod/pod-defaults.ts';
import {
  containerColumns,
  selectorColumn,
  validateSelector,
  validateTemplate,
  workloadScale,
} from './workload.ts';
import type { ReplicaSet, ReplicationController } from './workload-type.ts';

type Replicated = ReplicaSet | ReplicationController;

const replicaColumns = [
  countColumn<Replicated>('Desired', ({ spec }) => spec.replicas),
  countColumn<Replicated>('Current', ({ status }) => status?.replicas ?? 0),
  countColumn<Replicated>('Ready', ({ status }) => status?.readyReplicas ?? 0),
];

export const replicaSets = builtIn<ReplicaSet>({
  group: 'apps',
  plural: 'replicasets',
  kind: 'ReplicaSet',
  shortNames: ['rs'],
  categories: ['all'],
  statusSubresource: true,
  countsGeneration: true,
  scale: workloadScale,
  columns: [nameColumn, ...replicaColumns, ageColumn, ...containerColumns, selectorColumn],
  defaults(draft) {
    draft.spec ??= {} as ReplicaSet['spec'];
    const { spec } = draft;
    spec.replicas ??= 1;
    spec.template ??= { spec: { containers: [] } };
    defaultPodTemplate(spec.template);
  },
  prepareCreate(draft) {
    draft.status = { replicas: 0 };
  },
  validate({ spec }, old) {
    return [
      ...validateNotNegative(spec.replicas, 'spec.replicas'),
      ...validateNotNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...validateSelector(spec.selector, 'deployment'),
      ...validateTemplate(spec.template, spec.selector, 'ReplicaSet'),
      ...(old === undefined
        ? []
        : validateUnchanged(spec.selector, old.spec.selector, 'spec.selector')),
    ];
  },
});

export const replicationControllers = builtIn<ReplicationController>({
  plural: 'replicationcontrollers',
  kind: 'ReplicationController',
  shortNames: ['rc'],
  categories: ['all'],
  statusSubresource: true,
  countsGeneration: true,
  scale: workloadScale,
  columns: [
    nameColumn,
    ...replicaColumns,
    ageColumn,
    ...containerColumns,
    wideColumn<ReplicationController>('Selector', ({ spec }) => formatLabels(spec.selector)),
  ],
  fieldLabels: ({ status }) => ({ 'status.replicas': String(status?.replicas ?? 0) }),
  defaults(draft) {
    draft.spec ??= {} as ReplicationController['spec'];
    const { spec, metadata } = draft;
    spec.replicas ??= 1;
    if (spec.template === undefined) return;
    defaultPodTemplate(spec.template);
    const labels = spec.template.metadata?.labels;
    if (labels === undefined) return;
    spec.selector ??= { ...labels };
    metadata.labels ??= { ...labels };
  },
  prepareCreate(draft) {
    draft.status = { replicas: 0 };
  },
  validate({ spec }) {
    const selector = spec.selector ?? {};
    return [
      ...validateNotNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
      ...validateLabels(selector, 'spec.selector'),
      ...validateNotNegative(spec.replicas, 'spec.replicas'),
      ...(spec.template === undefined
        ? [required('spec.template')]
        : validateTemplate(spec.template, { matchLabels: selector }, 'ReplicationController')),
    ];
  },
});
