import type { KubeObject } from '../object.ts';
import { invalid } from '../schema/field-error.ts';
import { jsonEqual } from '../schema/json.ts';
import { ageColumn, column, countColumn, formatLabels, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import { validateNotNegative, validateUnchanged } from './field-rules.ts';
import type { LabelSelector } from './label-selector.ts';
import { defaultPodTemplate } from './pod/pod-defaults.ts';
import type { PodTemplate } from './pod/pod-type.ts';
import {
  containerColumns,
  selectorColumn,
  validateSelector,
  validateTemplate,
} from './workload.ts';
import type { Condition } from './workload-type.ts';

export interface DaemonSet extends KubeObject {
  spec: {
    selector: LabelSelector;
    template: PodTemplate;
    updateStrategy: {
      type: string;
      rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string };
    };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
  };
  status?: {
    currentNumberScheduled: number;
    desiredNumberScheduled: number;
    numberMisscheduled: number;
    numberReady: number;
    numberAvailable?: number;
    numberUnavailable?: number;
    updatedNumberScheduled?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
}

/** Counts the changes of the template. This annotation replaces an older field. */
const generationAnnotation = 'deprecated.daemonset.template.generation';

export const daemonSets = builtIn<DaemonSet>({
  group: 'apps',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  shortNames: ['ds'],
  categories: ['all'],
  statusSubresource: true,
  countsGeneration: true,
  columns: [
    nameColumn,
    countColumn<DaemonSet>('Desired', ({ status }) => status?.desiredNumberScheduled ?? 0),
    countColumn<DaemonSet>('Current', ({ status }) => status?.currentNumberScheduled ?? 0),
    countColumn<DaemonSet>('Ready', ({ status }) => status?.numberReady ?? 0),
    countColumn<DaemonSet>('Up-to-date', ({ status }) => status?.updatedNumberScheduled ?? 0),
    countColumn<DaemonSet>('Available', ({ status }) => status?.numberAvailable ?? 0),
    column<DaemonSet>('Node Selector', ({ spec }) => formatLabels(spec.template.spec.nodeSelector)),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  defaults(draft) {
    draft.spec ??= {} as DaemonSet['spec'];
    const { spec, metadata } = draft;
    metadata.annotations = { [generationAnnotation]: '1', ...metadata.annotations };
    spec.revisionHistoryLimit ??= 10;
    spec.updateStrategy ??= { type: 'RollingUpdate' };
    spec.updateStrategy.type ??= 'RollingUpdate';
    if (spec.updateStrategy.type === 'RollingUpdate') {
      spec.updateStrategy.rollingUpdate ??= {};
      spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
      spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
    }
    spec.template ??= { spec: { containers: [] } };
    defaultPodTemplate(spec.template);
  },
  prepareCreate(draft) {
    draft.status = {
      currentNumberScheduled: 0,
      desiredNumberScheduled: 0,
      numberMisscheduled: 0,
      numberReady: 0,
    };
  },
  prepareUpdate({ metadata, spec }, old) {
    if (jsonEqual(spec.template, old.spec.template)) return;
    const generation = Number(old.metadata.annotations?.[generationAnnotation] ?? 0) + 1;
    metadata.annotations = { ...metadata.annotations, [generationAnnotation]: String(generation) };
  },
  validate({ spec }, old) {
    const { type } = spec.updateStrategy;
    const isKnown = type === 'RollingUpdate' || type === 'OnDelete';
    return [
      ...(spec.selector === undefined ? [] : validateSelector(spec.selector, 'daemonset')),
      ...validateTemplate(spec.template, spec.selector, 'DaemonSet'),
      ...validateNotNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...validateNotNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
      ...(isKnown ? [] : [invalid('spec.updateStrategy.type', type, 'unknown strategy')]),
      ...(old === undefined
        ? []
        : validateUnchanged(spec.selector, old.spec.selector, 'spec.selector')),
    ];
  },
});
