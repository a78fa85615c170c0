import { selectorMatches } from '@causeway/kubernetes/objects/label-selector';
import { forbidden, invalid, required, type FieldError } from '../schema/field-error.ts';
import { labelKeyErrors, labelValueErrors } from '../schema/names.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelRequirement[];
}

export interface LabelRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Whether the selector matches these labels. An undefined selector matches nothing. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  return selector !== undefined && selectorMatches(selector, labels);
}

export function isEmptySelector(selector: LabelSelector | undefined): boolean {
  return (
    Object.keys(selector?.matchLabels ?? {}).length === 0 &&
    (selector?.matchExpressions ?? []).length === 0
  );
}

/** The format of `kubectl get`: `app=web,tier in (a,b)`, `<none>` for an empty selector. */
export function formatSelector(selector: LabelSelector | undefined): string {
  if (selector === undefined || isEmptySelector(selector)) return '<none>';
  const parts: (readonly [string, string])[] = [
    ...Object.entries(selector.matchLabels ?? {}).map(
      ([key, value]) => [key, `${key}=${value}`] as const,
    ),
    ...(selector.matchExpressions ?? []).map(
      (requirement) => [requirement.key, formatRequirement(requirement)] as const,
    ),
  ];
  return parts
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join(',');
}

function formatRequirement({ key, operator, values = [] }: LabelRequirement): string {
  const list = `(${[...values].sort().join(',')})`;
  switch (operator) {
    case 'In':
      return `${key} in ${list}`;
    case 'NotIn':
      return `${key} notin ${list}`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}

export function validateLabels(labels: Labels | undefined, path: string): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...labelKeyErrors(key).map((why) => invalid(path, key, why)),
    ...labelValueErrors(value).map((why) => invalid(path, value, why)),
  ]);
}

export function validateLabelSelector(
  selector: LabelSelector | undefined,
  path: string,
): FieldError[] {
  const errors = validateLabels(selector?.matchLabels, `${path}.matchLabels`);
  for (const [index, requirement] of (selector?.matchExpressions ?? []).entries()) {
    errors.push(...validateRequirement(requirement, `${path}.matchExpressions[${index}]`));
  }
  return errors;
}

function validateRequirement(requirement: LabelRequirement, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        const detail = "must be specified when `operator` is 'In' or 'NotIn'";
        errors.push(required(`${path}.values`, detail));
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.push(forbidden(`${path}.values`, detail));
      }
      break;
    default:
      errors.push(
        invalid(`${path}.operator`, requirement.operator, 'not a valid selector operator'),
      );
  }
  errors.push(
    ...labelKeyErrors(requirement.key).map((why) => invalid(`${path}.key`, requirement.key, why)),
  );
  return errors;
}
