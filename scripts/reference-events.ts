import type { EventDefinition } from '../packages/kubernetes/src/events/event-definition.ts';
import { serviceEvents } from '../packages/causeway/src/services/service-events.ts';
import { gatewayEvents } from '../packages/causeway/src/gateway/controller/gateway-events.ts';
import { octaviaEvents } from '../packages/causeway/src/octavia/octavia-events.ts';
import { poolEvents } from '../packages/causeway/src/pool/pool-events.ts';
import { discoveryEvents } from '../packages/causeway/src/discovery/discovery-events.ts';
import { idlingEvents } from '../packages/causeway/src/idling/idling-events.ts';
import { proxyEvents } from '../packages/causeway/src/node-proxy/proxy-events.ts';

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
