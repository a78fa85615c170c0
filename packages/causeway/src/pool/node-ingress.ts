import type { Family } from '@causeway/base/address/address';
import type { Node, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EnsureOutcome } from '../services/provider.ts';
import { nodeAnnotation } from './annotations.ts';
import { announcers } from './announcer.ts';
import { readHolding } from './holding.ts';
import { ingressOnNode } from './node-address.ts';

/**
 * Serves a Service on a node's own address, for platforms without virtual addresses. Nothing is reserved. The
 * node is named by the Service, otherwise it is `node`, otherwise a control plane node.
 */
export function putOnNode(
  service: Service,
  families: readonly Family[],
  nodes: Iterable<Node>,
  node: string | undefined,
): EnsureOutcome {
  const holding = readHolding(service);
  if (holding !== undefined) {
    const message = `The Service holds an address of the pool, announced by ${announcers[holding.announcer].title}. Delete the Service and create it again to use the address of a node.`;
    return { kind: 'refused', reason: 'AnnouncerChanged', message };
  }
  const named = service.metadata?.annotations?.[nodeAnnotation] ?? node;
  const ingress = ingressOnNode([...nodes], named, families);
  if (ingress.length > 0) return { kind: 'ready', ingress };
  const which = named === undefined ? 'a ready control plane node' : `the ready node ${named}`;
  return { kind: 'pending', message: `Waiting for ${which} with an address of the right family` };
}
