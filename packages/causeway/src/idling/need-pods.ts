import type { Event } from '@causeway/kubernetes/objects/core-objects';

/** OpenShift's reason for a connection to an idle Service. */
export const needPodsReason = 'NeedPods';

/** The key of the Service that an Event requests pods for. */
export function needPodsKey(event: Event): string | undefined {
  const { kind, namespace, name } = event.involvedObject ?? {};
  const isRequest = event.reason === needPodsReason && kind === 'Service';
  if (!isRequest || name === undefined) return undefined;
  return `${namespace ?? event.metadata?.namespace ?? ''}/${name}`;
}

/**
 * The time of the last request. The API server's clock counts as well, because a node's clock may be behind.
 * A node's clock may also be ahead. A request with a future time would outrank all others until then, so it
 * counts from when the controller saw it at the latest.
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
