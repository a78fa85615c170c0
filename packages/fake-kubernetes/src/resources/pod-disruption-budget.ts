import type { KubeObject } from '../object.ts';
import { invalid, type FieldError } from '../schema/field-error.ts';
import { ageColumn, column, countColumn, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import { validateLabelSelector, type LabelSelector } from './label-selector.ts';
import { validateCountOrPercent } from './workload.ts';

interface PodDisruptionBudget extends KubeObject {
  spec: {
    minAvailable?: number | string;
    maxUnavailable?: number | string;
    selector?: LabelSelector;
  };
  status?: {
    disruptionsAllowed: number;
    currentHealthy: number;
    desiredHealthy: number;
    expectedPods: number;
  };
}

const amount = (value: number | string | undefined) => value ?? 'N/A';

export const podDisruptionBudgets = builtIn<PodDisruptionBudget>({
  group: 'policy',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  shortNames: ['pdb'],
  statusSubresource: true,
  countsGeneration: true,
  requiresVersionOnUpdate: true,
  columns: [
    nameColumn,
    column<PodDisruptionBudget>('Min Available', ({ spec }) => amount(spec.minAvailable)),
    column<PodDisruptionBudget>('Max Unavailable', ({ spec }) => amount(spec.maxUnavailable)),
    countColumn<PodDisruptionBudget>(
      'Allowed Disruptions',
      ({ status }) => status?.disruptionsAllowed ?? 0,
    ),
    ageColumn,
  ],
  defaults(draft) {
    draft.spec ??= {};
  },
  prepareCreate(draft) {
    draft.status = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
  },
  validate({ spec }) {
    const errors: FieldError[] = [];
    if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
      const detail = 'minAvailable and maxUnavailable cannot be both set';
      errors.push(invalid('spec', spec, detail));
    }
    return [
      ...errors,
      ...validateCountOrPercent(spec.minAvailable, 'spec.minAvailable'),
      ...validateCountOrPercent(spec.maxUnavailable, 'spec.maxUnavailable'),
      ...validateLabelSelector(spec.selector, 'spec.selector'),
    ];
  },
});
