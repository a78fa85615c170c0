import { z } from 'zod';
import { textLimits } from '@causeway/base/text/text-limit';
import type { KubeObject, StringMap } from '@causeway/kubernetes/objects/object';

/** OpenShift's names, so that `oc idle` and OpenShift's own controller understand ours and we theirs. */
export const idledAt = 'idling.alpha.openshift.io/idled-at';
export const unidleTargets = 'idling.alpha.openshift.io/unidle-targets';
export const previousScale = 'idling.alpha.openshift.io/previous-scale';
/** On a HorizontalPodAutoscaler while its target sleeps: the `minReplicas` to put back. */
export const previousMinReplicas = 'causeway.dev/previous-min-replicas';
/** On a Service: how its first connections are held. `accept` is the only value besides the default. */
export const holdAnnotation = 'causeway.dev/hold';

/** On a Service: how long nobody may be connected before it is put to sleep by itself, such as `30m`. */
export const idleAfterAnnotation = 'causeway.dev/idle-after';

/** Something with a scale, and how many replicas it had before it was put to sleep. */
export interface UnidleTarget {
  readonly kind: string;
  readonly name: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly replicas: number;
}

/** What a scale can hold. */
const mostReplicas = 2 ** 31 - 1;
/** Half a character is no part of a name, nor of a path. */
const text = z.string().refine((value) => value.isWellFormed(), 'is not text');
const recordedTarget = z.object({
  kind: text.min(1),
  name: text.min(1),
  group: text.optional(),
  /** Written instead of the group by old versions of `oc`. */
  apiVersion: text.optional(),
  replicas: z.number().int().min(0).max(mostReplicas),
});
/** Each one is scaled by a request of its own. */
const mostTargets = 100;
const recordedTargets = z.array(recordedTarget).max(mostTargets);

export type ParsedTargets =
  | { readonly ok: true; readonly targets: readonly UnidleTarget[] }
  | { readonly ok: false; readonly problem: string };

/** Reads the targets that someone wrote; users can edit annotations, so anything may stand there. */
export function parseTargets(text: string | undefined): ParsedTargets {
  if (text === undefined || text === '') return { ok: true, targets: [] };
  if (text.length > textLimits.record) {
    const problem = `the annotation ${unidleTargets} has ${text.length} characters; Causeway reads up to ${textLimits.record}`;
    return { ok: false, problem };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: `the annotation ${unidleTargets} is not JSON` };
  }
  const parsed = recordedTargets.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.join('.') ?? '';
    return { ok: false, problem: `the annotation ${unidleTargets}: ${where}: ${issue?.message}` };
  }
  return {
    ok: true,
    targets: parsed.data.map(({ kind, name, group, apiVersion, replicas }) => ({
      kind,
      name,
      group: group ?? groupOfVersion(apiVersion),
      replicas,
    })),
  };
}

/** As `oc` writes it: the group is left out where it is empty. */
export function formatTargets(targets: readonly UnidleTarget[]): string {
  return JSON.stringify(
    targets.map(({ kind, name, group, replicas }) => ({
      kind,
      name,
      ...(group === '' ? {} : { group }),
      replicas,
    })),
  );
}

function groupOfVersion(apiVersion: string | undefined): string {
  const slash = apiVersion?.indexOf('/') ?? -1;
  return slash < 0 ? '' : (apiVersion?.slice(0, slash) ?? '');
}

/** RFC 3339 in UTC with whole seconds, as `oc` writes it. */
export function formatIdledAt(wallTime: number): string {
  return new Date(wallTime).toISOString().replace(/\.\d+Z$/, 'Z');
}

export function annotationsOf(object: KubeObject | undefined): StringMap {
  return object?.metadata?.annotations ?? {};
}

/** Any value counts, as for OpenShift's proxy. */
export function hasIdledAt(object: KubeObject | undefined): boolean {
  return annotationsOf(object)[idledAt] !== undefined;
}

/** When it was put to sleep; undefined if it was not, or if nobody can tell from what stands there. */
export function idledAtTime(object: KubeObject | undefined): number | undefined {
  const time = Date.parse(annotationsOf(object)[idledAt] ?? '');
  return Number.isNaN(time) ? undefined : time;
}

export function sameTarget(
  left: Omit<UnidleTarget, 'replicas'>,
  right: Omit<UnidleTarget, 'replicas'>,
): boolean {
  return left.kind === right.kind && left.name === right.name && left.group === right.group;
}

/** `Deployment web`, as messages name it. */
export function describeTarget({ kind, name }: Omit<UnidleTarget, 'replicas' | 'group'>): string {
  return `${kind} ${name}`;
}
