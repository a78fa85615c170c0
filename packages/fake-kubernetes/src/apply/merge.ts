import { isObject, type JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { emptySet, type FieldSet } from './field-set.ts';
import { elementsOf, stepOf } from './typed-value.ts';

/** Merges an applied configuration into the live value. The configuration wins; other fields stay. */
export function merge(schema: Schema | undefined, live: unknown, config: unknown): unknown {
  const left = elementsOf(schema, live);
  const right = elementsOf(schema, config);
  if (left === undefined || right === undefined) return config;
  if (Array.isArray(config)) return mergeLists(schema, asList(live), config);
  if (!isObject(config)) return config;
  const result: JsonObject = isObject(live) ? { ...live } : {};
  for (const [name, value] of Object.entries(config)) {
    result[name] = merge(right.get(`f:${name}`)?.schema, result[name], value);
  }
  return result;
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Items keep their live order as far as the order of the configuration allows it. */
function mergeLists(
  schema: Schema | undefined,
  live: readonly unknown[],
  config: readonly unknown[],
): unknown[] {
  const liveByStep = new Map(live.map((item) => [stepOf(schema, item), item]));
  const configSteps = new Set(config.map((item) => stepOf(schema, item)));
  const merged = (item: unknown) => {
    const counterpart = liveByStep.get(stepOf(schema, item));
    return counterpart === undefined ? item : merge(schema?.items, counterpart, item);
  };
  const result: unknown[] = [];
  const taken = new Set<string | undefined>();
  let position = 0;
  for (const item of config) {
    const step = stepOf(schema, item);
    for (; position < live.length; position += 1) {
      const liveStep = stepOf(schema, live[position]);
      if (configSteps.has(liveStep) && !taken.has(liveStep)) break;
      if (!configSteps.has(liveStep)) result.push(live[position]);
    }
    taken.add(step);
    result.push(merged(item));
  }
  const rest = live.slice(position).filter((item) => !configSteps.has(stepOf(schema, item)));
  return [...result, ...rest];
}

/**
 * Removes the fields of `last` that no manager owns now, because the applier no longer applies them. Removing
 * an item removes the fields below it.
 */
export function prune(
  schema: Schema | undefined,
  value: unknown,
  last: FieldSet,
  owned: FieldSet,
): unknown {
  const elements = elementsOf(schema, value);
  if (elements === undefined) return value;
  let hasChanged = false;
  const kept = new Map<string, unknown>();
  for (const [step, element] of elements) {
    const lastBelow = last.children.get(step);
    if (lastBelow === undefined) {
      kept.set(step, element.value);
      continue;
    }
    const ownedBelow = owned.children.get(step);
    if (ownedBelow === undefined && lastBelow.member) {
      hasChanged = true;
      continue;
    }
    const below = prune(element.schema, element.value, lastBelow, ownedBelow ?? emptySet);
    hasChanged ||= below !== element.value;
    if (below !== undefined) kept.set(step, below);
  }
  if (!hasChanged) return value;
  // An empty remainder is removed too, unless a manager owns the empty value.
  if (kept.size === 0 && !owned.member) return undefined;
  if (Array.isArray(value)) return [...kept.values()];
  return Object.fromEntries([...kept].map(([step, below]) => [step.slice(2), below]));
}
