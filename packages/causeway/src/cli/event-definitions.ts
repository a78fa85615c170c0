import type { EventDefinition, EventReason } from '@causeway/kubernetes/events/event-definition';
import { discoveryEvents } from '../discovery/discovery-events.ts';
import { gatewayEvents } from '../gateway/controller/gateway-events.ts';
import { idlingEvents } from '../idling/idling-events.ts';
import { proxyEvents } from '../node-proxy/proxy-events.ts';
import { octaviaEvents } from '../octavia/octavia-events.ts';
import { poolEvents } from '../pool/pool-events.ts';
import { serviceEvents } from '../services/service-events.ts';

/** Every Event, by the component that records it. */
export const eventsByComponent: Readonly<
  Record<string, Readonly<Record<string, EventDefinition>>>
> = {
  Controller: serviceEvents,
  'Gateway provider': gatewayEvents,
  'Octavia provider': octaviaEvents,
  'Pool provider': poolEvents,
  Discovery: discoveryEvents,
  Idling: idlingEvents,
  'Node proxy': proxyEvents,
};

const definitions: Readonly<Record<EventReason, EventDefinition>> = {
  ...serviceEvents,
  ...gatewayEvents,
  ...octaviaEvents,
  ...poolEvents,
  ...discoveryEvents,
  ...idlingEvents,
  ...proxyEvents,
};

/** The type in the definition of an Event. */
export function eventType(reason: EventReason): EventDefinition['type'] {
  return definitions[reason].type;
}
