import type { Event } from '../kube/core-objects.ts';

/** OpenShift's reason for "someone connects to a Service that sleeps". */
export const needPodsReason = 'NeedPods';

/** The key of the Service that an Event asks pods for. */
export function needPodsKey(event: Event): string | undefined {
  const { kind, namespace, name } = event.involvedObject ?? {};
  const isRequest = event.reason === needPodsReason && kind === 'Service';
  if (!isRequest || name === undefined) return undefined;
  return `${namespace ?? event.metadata?.namespace ?? ''}/${name}`;
}

/** When it was last asked for. The API server's own clock counts too: a node's may be behind. */
export function requestTime(event: Event): number {
  const times = [
    event.metadata?.creationTimestamp,
    event.firstTimestamp,
    event.lastTimestamp,
    event.eventTime,
    event.series?.lastObservedTime,
  ].map((text) => Date.parse(text ?? ''));
  return Math.max(...times.filter((time) => !Number.isNaN(time)), Number.NEGATIVE_INFINITY);
}
