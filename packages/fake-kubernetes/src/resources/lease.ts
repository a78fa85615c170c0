import type { KubeObject } from '../object.ts';
import { invalid } from '../schema/field-error.ts';
import { ageColumn, column, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';
import { validateNotNegative } from './field-rules.ts';

interface Lease extends KubeObject {
  spec: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    leaseTransitions?: number;
  };
}

export const leases = builtIn<Lease>({
  group: 'coordination.k8s.io',
  plural: 'leases',
  kind: 'Lease',
  createsOnUpdate: true,
  requiresVersionOnUpdate: true,
  columns: [
    nameColumn,
    column<Lease>('Holder', ({ spec }) => spec.holderIdentity ?? ''),
    ageColumn,
  ],
  defaults(draft) {
    draft.spec ??= {};
  },
  validate({ spec }) {
    const { leaseDurationSeconds, leaseTransitions } = spec;
    const isShort = leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0;
    return [
      ...(isShort
        ? [invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0')]
        : []),
      ...validateNotNegative(leaseTransitions, 'spec.leaseTransitions'),
    ];
  },
});
