import type { LabelSelector, StringMap } from './object.ts';

/** A `LabelSelector` whose operators are not validated yet. */
type AnyLabelSelector = Omit<LabelSelector, 'matchExpressions'> & {
  readonly matchExpressions?: readonly AnyRequirement[];
};
interface AnyRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Whether the selector matches an object with these labels. An empty selector matches all. */
export function selectorMatches(selector: AnyLabelSelector, labels: StringMap = {}): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (labels[key] !== value) return false;
  }
  return (selector.matchExpressions ?? []).every((requirement) => meets(labels, requirement));
}

/** As in Kubernetes, `NotIn` also matches objects without the label. An unknown operator matches nothing. */
function meets(labels: StringMap, { key, operator, values = [] }: AnyRequirement): boolean {
  // A label may be called `constructor`, which every JavaScript object has.
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
