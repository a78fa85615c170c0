import type { Family } from '@causeway/base/address/address';
import type { Node, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EnsureOutcome } from '../services/provider.ts';
import { nodeAnnotation } from './annotations.ts';
import { announcers } from './announcer.ts';
import { readHolding } from './holding.ts';
import { ingressOnNode } from './node-address.ts';

/**
 * The way of platforms without virtual addresses: nothing is reserved, a node's own address serves. That
 * of the node that the Service names, else of `node`, else of one of the control plane.
 */
export function putOnNode(
  service: Service,
  families: readonly Family[],
  nodes: Iterable<Node>,
  node: string | undefined,
): EnsureOutcome {
  const holding = readHolding(service);
  if (holding !== undefined) {
    const message = `It holds an address of the pool, announced by ${announcers[holding.announcer].title}. Create it anew to have it on a node.`;
    return { kind: 'refused', reason: 'AnnouncerChanged', message };
  }
  const named = service.metadata?.annotations?.[nodeAnnotation] ?? node;
  const ingress = ingressOnNode([...nodes], named, families);
  if (ingress.length > 0) return { kind: 'ready', ingress };
  const which = named === undefined ? 'no control plane node' : `the node ${named}`;
  return { kind: 'pending', message: `Waiting: ${which} is ready with an address of its family` };
}
