import type { KubeObject } from '../object.ts';
import type { Column, ScalePaths } from '../resource-definition.ts';
import {
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../schema/field-error.ts';
import { wideColumn } from './columns.ts';
import {
  formatSelector,
  isEmptySelector,
  selects,
  validateLabelSelector,
  type LabelSelector,
} from './label-selector.ts';
import type { PodTemplate } from './pod/pod-type.ts';
import { validatePodTemplate } from './pod/pod-validation.ts';

/** Fields that all kinds with a pod template share. */

interface Templated extends KubeObject {
  spec: { template: PodTemplate };
}

/** The fields of the subresource `scale`. */
export const workloadScale: ScalePaths = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};

export const containerColumns: readonly Column[] = [
  wideColumn<Templated>('Containers', ({ spec }) =>
    spec.template.spec.containers.map(({ name }) => name).join(','),
  ),
  wideColumn<Templated>('Images', ({ spec }) =>
    spec.template.spec.containers.map(({ image }) => image ?? '').join(','),
  ),
];

interface Selecting extends KubeObject {
  spec: { selector: LabelSelector };
}

export const selectorColumn: Column = wideColumn<Selecting>('Selector', ({ spec }) =>
  formatSelector(spec.selector),
);

/** The selector of a workload must match the pods of its template, and must not match everything. */
export function validateSelector(selector: LabelSelector | undefined, kind: string): FieldError[] {
  if (selector === undefined) return [required('spec.selector')];
  const errors = validateLabelSelector(selector, 'spec.selector');
  if (isEmptySelector(selector)) {
    errors.push(invalid('spec.selector', selector, `empty selector is invalid for ${kind}`));
  }
  return errors;
}

export function validateTemplate(
  template: PodTemplate,
  selector: LabelSelector | undefined,
  kind: string,
): FieldError[] {
  const path = 'spec.template';
  const errors: FieldError[] = [];
  const labels = template.metadata?.labels ?? {};
  const isEmpty = selector !== undefined && isEmptySelector(selector);
  if (!isEmpty && !selects(selector, labels)) {
    const detail = '`selector` does not match template `labels`';
    errors.push(invalid(`${path}.metadata.labels`, template.metadata?.labels ?? null, detail));
  }
  errors.push(...validatePodTemplate(template, path));
  if (template.spec.restartPolicy !== 'Always') {
    const given = template.spec.restartPolicy ?? '';
    errors.push(notSupported(`${path}.spec.restartPolicy`, given, ['Always']));
  }
  if (template.spec['activeDeadlineSeconds'] !== undefined) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbidden(`${path}.spec.activeDeadlineSeconds`, detail));
  }
  return errors;
}

/** Resolves a count or a percentage of a total. The caller chooses the rounding. */
export function scaledCount(
  value: number | string | undefined,
  whole: number,
  round: 'up' | 'down',
): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  const percent = Number.parseInt(value, 10);
  const exact = (percent * whole) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
}

export function validateCountOrPercent(
  value: number | string | undefined,
  path: string,
): FieldError[] {
  if (value === undefined) return [];
  if (typeof value === 'number') {
    return value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
  }
  if (/^[0-9]+%$/.test(value)) return [];
  const detail =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalid(path, value, detail)];
}
