import type { Event } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { EventRow } from './rows.ts';

export function eventRow(event: Event): EventRow {
  const { involvedObject: about, series } = event;
  const place = [about?.namespace, about?.name].filter((part) => part !== undefined).join('/');
  return {
    key: keyOf(event),
    at:
      series?.lastObservedTime ??
      event.lastTimestamp ??
      event.eventTime ??
      event.firstTimestamp ??
      event.metadata?.creationTimestamp ??
      '',
    isWarning: event.type === 'Warning',
    reason: event.reason ?? '',
    message: event.message ?? '',
    about: `${about?.kind ?? ''} ${place}`.trim(),
    count: series?.count ?? event.count ?? 1,
    source: event.reportingComponent || event.source?.component || '',
  };
}
