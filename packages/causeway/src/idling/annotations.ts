import { z } from 'zod';
import { textLimits } from '@causeway/base/text/text-limit';
import type { KubeObject, StringMap } from '@causeway/kubernetes/objects/object';

/** OpenShift's names, for compatibility with `oc idle` and OpenShift's own controller in both directions. */
export const idledAt = 'idling.alpha.openshift.io/idled-at';
export const unidleTargets = 'idling.alpha.openshift.io/unidle-targets';
export const previousScale = 'idling.alpha.openshift.io/previous-scale';
/** On a HorizontalPodAutoscaler while its target is idle: the `minReplicas` to restore. */
export const previousMinReplicas = 'causeway.dev/previous-min-replicas';
/** On a Service: how its first connections are held. `accept` is the only value besides the default. */
export const holdAnnotation = 'causeway.dev/hold';

/** On a Service: the time without connections, such as `30m`, after which the controller idles it. */
export const idleAfterAnnotation = 'causeway.dev/idle-after';

/** An object with a scale subresource, and its number of replicas before idling. */
export interface UnidleTarget {
  readonly kind: string;
  readonly name: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly replicas: number;
}

/** The maximum of a scale. */
const mostReplicas = 2 ** 31 - 1;
/** An unpaired surrogate is valid neither in a name nor in a path. */
const text = z.string().refine((value) => value.isWellFormed(), 'is not text');
const recordedTarget = z.object({
  kind: text.min(1),
  name: text.min(1),
  group: text.optional(),
  /** Written instead of the group by old versions of `oc`. */
  apiVersion: text.optional(),
  replicas: z.number().int().min(0).max(mostReplicas),
});
/** Each target needs a scale request of its own. */
const mostTargets = 100;
const recordedTargets = z.array(recordedTarget).max(mostTargets);

export type ParsedTargets =
  | { readonly ok: true; readonly targets: readonly UnidleTarget[] }
  | { readonly ok: false; readonly problem: string };

/** Reads the targets from the annotation. Users can edit annotations, so any text is possible. */
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

/** Formats targets like `oc`: an empty group is omitted. */
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

/** The time of idling. Undefined for a Service that is not idle, or with an unreadable time. */
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
