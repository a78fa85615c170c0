import { ApiError } from '../status.ts';

/** One requirement of a label selector. */
export type Requirement =
  | { readonly key: string; readonly operator: 'in' | 'notin'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'exists' | 'absent' }
  | { readonly key: string; readonly operator: 'gt' | 'lt'; readonly value: number };

export type Labels = Readonly<Record<string, string>>;

const namePattern =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const valuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Parses the value of `labelSelector=`: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>3`. */
export function parseLabelSelector(text: string): readonly Requirement[] {
  return splitRequirements(text).map((part) => parseRequirement(part, text));
}

export function matchesLabels(requirements: readonly Requirement[], labels: Labels = {}): boolean {
  return requirements.every((requirement) => isMet(requirement, labels[requirement.key]));
}

function isMet(requirement: Requirement, value: string | undefined): boolean {
  switch (requirement.operator) {
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'notin':
      return value === undefined || !requirement.values.includes(value);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    default:
      if (value === undefined || !/^-?\d+$/.test(value)) return false;
      return requirement.operator === 'gt'
        ? Number(value) > requirement.value
        : Number(value) < requirement.value;
  }
}

/** Splits at commas outside of parentheses. */
function splitRequirements(text: string): string[] {
  if (text.trim() === '') return [];
  const parts: string[] = [];
  let depth = 0;
  let current = '';
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) {
      parts.push(current);
      current = '';
    } else {
      current += character;
    }
  }
  return [...parts, current].map((part) => part.trim());
}

function parseRequirement(part: string, whole: string): Requirement {
  const listed = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part);
  if (listed !== null) {
    const values = (listed[3] ?? '').split(',').map((value) => checkedValue(value.trim(), whole));
    return {
      key: checkedKey(listed[1] ?? '', whole),
      operator: listed[2] === 'in' ? 'in' : 'notin',
      values,
    };
  }
  const compared = /^([^=!<>\s]+)\s*(==|!=|=|>|<)\s*([^=!<>\s]*)$/.exec(part);
  if (compared !== null) {
    return comparison(
      checkedKey(compared[1] ?? '', whole),
      compared[2] ?? '',
      compared[3] ?? '',
      whole,
    );
  }
  return part.startsWith('!')
    ? { key: checkedKey(part.slice(1).trim(), whole), operator: 'absent' }
    : { key: checkedKey(part, whole), operator: 'exists' };
}

function comparison(key: string, operator: string, value: string, whole: string): Requirement {
  if (operator === '>' || operator === '<') {
    if (!/^-?\d+$/.test(value)) throw unparsable(whole, `"${value}" is not an integer`);
    return { key, operator: operator === '>' ? 'gt' : 'lt', value: Number(value) };
  }
  return {
    key,
    operator: operator === '!=' ? 'notin' : 'in',
    values: [checkedValue(value, whole)],
  };
}

function checkedKey(key: string, whole: string): string {
  if (!namePattern.test(key)) throw unparsable(whole, `"${key}" is not a valid label key`);
  return key;
}

function checkedValue(value: string, whole: string): string {
  if (!valuePattern.test(value)) throw unparsable(whole, `"${value}" is not a valid label value`);
  return value;
}

const unparsable = (selector: string, why: string) =>
  new ApiError('BadRequest', `unable to parse requirement: ${why} in "${selector}"`);
