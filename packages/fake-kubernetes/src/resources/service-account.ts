import type { KubeObject } from '../object.ts';
import { ageColumn, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';

export const serviceAccounts = builtIn<KubeObject>({
  plural: 'serviceaccounts',
  returnsDeleted: true,
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  columns: [nameColumn, ageColumn],
});
