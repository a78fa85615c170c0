import { zeroValue } from '../apply/typed-value.ts';
import { asDraft } from '../cluster/new-object.ts';
import type { ServedResource } from '../cluster/served-resource.ts';
import type { KubeObject } from '../object.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import {
  checkFieldSelector,
  type FieldRequirement,
  matchesFields,
  parseFieldSelector,
} from '../selectors/field-selector.ts';
import {
  matchesLabels,
  parseLabelSelector,
  type Requirement,
} from '../selectors/label-selector.ts';
import { ApiError, type Cause, invalidOptions } from '../status.ts';

/** Selects the objects of a list, a watch or a collection deletion. */
export interface Selection {
  readonly namespace: string | undefined;
  readonly labels: readonly Requirement[];
  readonly fields: readonly FieldRequirement[];
}

export function parseSelection(
  { definition, schema }: ServedResource,
  namespace: string | undefined,
  query: URLSearchParams,
): Selection {
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
  if (fields.length > 0) checkFieldSelector(definition, fields, asDraft(zeroValue(schema)));
  return { namespace, fields, labels: parseLabelSelector(query.get('labelSelector') ?? '') };
}

export const selectsAll = (selection: Selection): boolean =>
  selection.labels.length === 0 && selection.fields.length === 0;

/** Whether an object is selected. This includes the check of the namespace. */
export function isSelected(
  definition: ResourceDefinition,
  { namespace, labels, fields }: Selection,
  object: KubeObject,
): boolean {
  return (
    (namespace === undefined || object.metadata.namespace === namespace) &&
    matchesLabels(labels, object.metadata.labels) &&
    matchesFields(definition, fields, object)
  );
}

export interface ListQuery {
  readonly limit: number | undefined;
  readonly continueFrom: ContinueToken | undefined;
  /** The list has to show exactly this version. */
  readonly exactly: number | undefined;
  /** The list has to show this version or a later one. */
  readonly notOlderThan: number | undefined;
}

export interface ContinueToken {
  readonly version: number;
  /** Namespace and name of the last object of the previous page. */
  readonly after: string;
}

export function parseListQuery(query: URLSearchParams): ListQuery {
  const match = query.get('resourceVersionMatch') ?? '';
  const versionText = query.get('resourceVersion') ?? '';
  const token = query.get('continue') ?? '';
  const causes = [...checkMatch(match, versionText), ...checkContinue(token, match, versionText)];
  if (causes.length > 0) throw invalidOptions('ListOptions', causes);
  const version = parseVersion(versionText);
  const limit = parseCount(query.get('limit'));
  return {
    limit: limit === undefined || limit === 0 ? undefined : limit,
    continueFrom: token === '' ? undefined : decodeContinue(token),
    exactly: match === 'Exact' ? version : undefined,
    notOlderThan: match === 'Exact' ? undefined : version,
  };
}

function checkMatch(match: string, version: string): Cause[] {
  const field = 'resourceVersionMatch';
  if (match === '') return [];
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`;
    return [{ reason: 'FieldValueNotSupported', message, field }];
  }
  const why =
    version === ''
      ? 'resourceVersionMatch is forbidden unless resourceVersion is provided'
      : match === 'Exact' && version === '0'
        ? 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        : undefined;
  return why === undefined
    ? []
    : [{ reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }];
}

function checkContinue(token: string, match: string, version: string): Cause[] {
  if (token === '') return [];
  if (match !== '') {
    const message = 'Forbidden: resourceVersionMatch is forbidden when continue is provided';
    return [{ reason: 'FieldValueForbidden', message, field: 'resourceVersionMatch' }];
  }
  if (version !== '' && version !== '0') {
    throw new ApiError(
      'BadRequest',
      'specifying resource version is not allowed when using continue',
    );
  }
  return [];
}

export function parseVersion(text: string): number | undefined {
  if (text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ApiError(
    'BadRequest',
    `invalid resource version: resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
  );
}

export function parseCount(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ApiError('BadRequest', `strconv.ParseInt: parsing "${text}": invalid syntax`);
}

export function encodeContinue(token: ContinueToken): string {
  return Buffer.from(
    JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.version, start: token.after }),
  ).toString('base64url');
}

function decodeContinue(text: string): ContinueToken {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>;
    const { rv, start } = value;
    if (typeof rv === 'number' && typeof start === 'string') return { version: rv, after: start };
  } catch {
    // The code below rejects the token, like every other token that can't be read.
  }
  throw new ApiError(
    'BadRequest',
    'invalid continue token: continue key is not valid: it was not made by this server',
  );
}
