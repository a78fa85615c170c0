import type { Event } from '@causeway/kubernetes/objects/core-objects';

/** OpenShift's reason for "someone connects to a Service that sleeps". */
export const needPodsReason = 'NeedPods';

/** The key of the Service that an Event asks pods for. */
export function needPodsKey(event: Event): string | undefined {
  const { kind, namespace, name } = event.involvedObject ?? {};
  const isRequest = event.reason === needPodsReason && kind === 'Service';
  if (!isRequest || name === undefined) return undefined;
  return `${namespace ?? event.metadata?.namespace ?? ''}/${name}`;
}

/**
 * When it was last asked for. The API server's own clock counts too: a node's may be behind. It may be
 * ahead as well, and a request from the future would outdo all that others ask for until then: it counts
 * from when we saw it at the latest.
 */
export function requestTime(event: Event, seenAt: number): number {
  const said = [
    event.firstTimestamp,
    event.lastTimestamp,
    event.eventTime,
    event.series?.lastObservedTime,
  ].map(timeOf);
  return Math.max(timeOf(event.metadata?.creationTimestamp), Math.min(Math.max(...said), seenAt));
}

function timeOf(text: string | null | undefined): number {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}
