import {
  forbidden,
  invalid,
  notSupported,
  Verbatim,
  type FieldError,
} from '../schema/field-error.ts';
import { ageColumn, column, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import { validateNotNegative, validateUnchanged } from './field-rules.ts';
import { defaultPodTemplate } from './pod/pod-defaults.ts';
import {
  containerColumns,
  selectorColumn,
  validateCountOrPercent,
  validateSelector,
  validateTemplate,
  workloadScale,
} from './workload.ts';
import type { Deployment } from './workload-type.ts';

export const deployments = builtIn<Deployment>({
  group: 'apps',
  plural: 'deployments',
  kind: 'Deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  statusSubresource: true,
  countsGeneration: true,
  countsAnnotations: true,
  scale: workloadScale,
  columns: [
    nameColumn,
    column<Deployment>(
      'Ready',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`,
    ),
    column<Deployment>('Up-to-date', ({ status }) => status?.updatedReplicas ?? 0),
    column<Deployment>('Available', ({ status }) => status?.availableReplicas ?? 0),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  defaults(draft) {
    draft.spec ??= {} as Deployment['spec'];
    const { spec } = draft;
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
    spec.strategy ??= { type: 'RollingUpdate' };
    spec.strategy.type ??= 'RollingUpdate';
    if (spec.strategy.type === 'RollingUpdate') {
      spec.strategy.rollingUpdate ??= {};
      spec.strategy.rollingUpdate.maxUnavailable ??= '25%';
      spec.strategy.rollingUpdate.maxSurge ??= '25%';
    }
    spec.template ??= { spec: { containers: [] } };
    defaultPodTemplate(spec.template);
  },
  prepareCreate(draft) {
    draft.status = {};
  },
  validate(object, old) {
    const { spec } = object;
    const errors = [
      ...validateNotNegative(spec.replicas, 'spec.replicas'),
      ...validateSelector(spec.selector, 'deployment'),
      ...validateTemplate(spec.template, spec.selector, 'ReplicaSet'),
      ...validateStrategy(spec.strategy),
      ...validateNotNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...validateNotNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
      ...validateNotNegative(spec.progressDeadlineSeconds, 'spec.progressDeadlineSeconds'),
    ];
    const deadline = spec.progressDeadlineSeconds ?? 0;
    if (deadline <= (spec.minReadySeconds ?? 0)) {
      const detail = 'must be greater than minReadySeconds';
      errors.push(invalid('spec.progressDeadlineSeconds', deadline, detail));
    }
    if (old !== undefined) {
      errors.push(...validateUnchanged(spec.selector, old.spec.selector, 'spec.selector'));
    }
    return errors;
  },
});

function validateStrategy(strategy: Deployment['spec']['strategy']): FieldError[] {
  const path = 'spec.strategy';
  switch (strategy.type) {
    case 'Recreate':
      if (strategy.rollingUpdate === undefined) return [];
      return [
        forbidden(
          `${path}.rollingUpdate`,
          "may not be specified when strategy `type` is 'Recreate'",
        ),
      ];
    case 'RollingUpdate':
      return validateRollingUpdate(strategy.rollingUpdate ?? {}, `${path}.rollingUpdate`);
    default:
      return [notSupported(path, shownStrategy(strategy), ['Recreate', 'RollingUpdate'])];
  }
}

function shownStrategy({ type }: Deployment['spec']['strategy']): Verbatim {
  return new Verbatim(`{"Type":${JSON.stringify(type)},"RollingUpdate":null}`);
}

function validateRollingUpdate(
  { maxUnavailable, maxSurge }: { maxUnavailable?: number | string; maxSurge?: number | string },
  path: string,
): FieldError[] {
  const number = (value: number | string | undefined) => Number.parseInt(String(value ?? 0), 10);
  const errors = [
    ...validateCountOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateCountOrPercent(maxSurge, `${path}.maxSurge`),
  ];
  if (number(maxUnavailable) === 0 && number(maxSurge) === 0) {
    const detail = 'may not be 0 when `maxSurge` is 0';
    errors.push(invalid(`${path}.maxUnavailable`, maxUnavailable ?? 0, detail));
  }
  if (typeof maxUnavailable === 'string' && number(maxUnavailable) > 100) {
    const detail = 'must not be greater than 100%';
    errors.push(invalid(`${path}.maxUnavailable`, maxUnavailable, detail));
  }
  return errors;
}
