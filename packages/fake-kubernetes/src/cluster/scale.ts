import {
  asArray,
  asObject,
  fieldAt,
  isObject,
  type JsonObject,
  type KubeObject,
} from '../object.ts';
import type { ScalePaths } from '../resource-definition.ts';

/** The kind that `/scale` accepts and returns. */
export const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;

/** Desired and actual replicas of an object, as the Scale kind that all scalable objects share. */
export function scaleOf(paths: ScalePaths, object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = selectorText(
    paths.selector === undefined ? '' : fieldAt(object, ...paths.selector),
  );
  const desired = countAt(object, paths.specReplicas);
  return {
    kind: scaleKind.kind,
    apiVersion: `${scaleKind.group}/${scaleKind.version}`,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    spec: desired === 0 ? {} : { replicas: desired },
    status: {
      replicas: countAt(object, paths.statusReplicas),
      ...(selector === '' ? {} : { selector }),
    },
  };
}

function countAt(object: KubeObject, path: readonly string[]): number {
  const value = fieldAt(object, ...path);
  return typeof value === 'number' ? value : 0;
}

/** A copy of the object with the number of replicas of a Scale. */
export function withScale(paths: ScalePaths, object: KubeObject, scale: JsonObject): KubeObject {
  const draft = structuredClone(object);
  const replicas = fieldAt(scale, 'spec', 'replicas') ?? 0;
  let parent: JsonObject = draft;
  for (const step of paths.specReplicas.slice(0, -1)) {
    const next = asObject(parent[step]);
    parent[step] = next;
    parent = next;
  }
  parent[paths.specReplicas.at(-1) ?? 'replicas'] = replicas;
  const { resourceVersion, uid } = asObject(scale['metadata']);
  draft.metadata.resourceVersion = typeof resourceVersion === 'string' ? resourceVersion : '';
  draft.metadata.uid = typeof uid === 'string' ? uid : '';
  return draft;
}

const operators: Readonly<Record<string, string>> = { In: 'in', NotIn: 'notin' };

/** Returns the text form of a selector, which can be text, a map of labels or a LabelSelector. */
function selectorText(selector: unknown): string {
  if (typeof selector === 'string') return selector;
  if (!isObject(selector)) return '';
  const isLabelSelector =
    isObject(selector['matchLabels']) || Array.isArray(selector['matchExpressions']);
  const labels = isLabelSelector ? asObject(selector['matchLabels']) : selector;
  const equalities = Object.entries(labels).map(
    ([key, value]) => [key, `${key}=${String(value)}`] as const,
  );
  const expressions = isLabelSelector ? asArray(selector['matchExpressions']) : [];
  return [...equalities, ...expressions.map(expressionText)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join(',');
}

function expressionText(expression: unknown): readonly [key: string, text: string] {
  const { key, operator, values } = asObject(expression);
  const name = String(key);
  const word = operators[String(operator)];
  if (word !== undefined)
    return [name, `${name} ${word} (${asArray(values).map(String).sort().join(',')})`];
  return [name, operator === 'DoesNotExist' ? `!${name}` : name];
}
