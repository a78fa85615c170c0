import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Endpoints, Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { endpoints, services } from '@causeway/kubernetes/objects/resources';
import {
  annotationsOf,
  describeTarget,
  hasIdledAt,
  idledAt,
  type ParsedTargets,
} from './annotations.ts';
import { targetsOf } from './waker.ts';

export interface IdleRow {
  readonly namespace: string;
  readonly service: string;
  readonly idledAt: string;
  /** Such as `Deployment web × 3`. */
  readonly targets: readonly string[];
  /** A problem that an operator should check. */
  readonly note: string;
}

/** All idle Services, including those that a very old `oc` idled. */
export async function listIdle(
  client: KubeClient,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<IdleRow[]> {
  const marked = new Map<string, Endpoints>();
  for await (const object of client.list(endpoints, { namespace, signal })) {
    if (hasIdledAt(object)) marked.set(keyOf(object), object);
  }
  const rows: IdleRow[] = [];
  for await (const service of client.list(services, { namespace, signal })) {
    const current = marked.get(keyOf(service));
    if (hasIdledAt(service) || current !== undefined) rows.push(describe(service, current));
  }
  return rows;
}

function describe(service: Service, current: Endpoints | undefined): IdleRow {
  const { namespace = '', name = '' } = service.metadata ?? {};
  const parsed = targetsOf(service, current);
  const source = hasIdledAt(service) ? service : current;
  return {
    namespace,
    service: name,
    idledAt: annotationsOf(source)[idledAt] ?? '',
    targets: parsed.ok
      ? parsed.targets.map((target) => `${describeTarget(target)} × ${target.replicas}`)
      : [],
    note: noteOn(service, parsed),
  };
}

function noteOn(service: Service, parsed: ParsedTargets): string {
  if (!parsed.ok) return parsed.problem;
  if (parsed.targets.length === 0)
    return 'names no object to start: scale the objects by hand to wake the Service';
  return hasIdledAt(service)
    ? ''
    : 'marked on the Endpoints alone, by an old oc: proxies do not see the mark; idle or wake the Service again';
}
