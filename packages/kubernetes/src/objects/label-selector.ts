import type { LabelSelector, LabelSelectorRequirement, StringMap } from './object.ts';

/** Whether the selector matches an object with these labels. An empty selector matches all. */
export function selectorMatches(selector: LabelSelector, labels: StringMap = {}): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (labels[key] !== value) return false;
  }
  return (selector.matchExpressions ?? []).every((requirement) => meets(labels, requirement));
}

/** As in Kubernetes, `NotIn` also matches objects without the label. */
function meets(labels: StringMap, { key, operator, values = [] }: LabelSelectorRequirement) {
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
  }
}
