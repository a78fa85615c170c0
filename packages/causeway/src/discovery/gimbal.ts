import type { KubeObject } from '@causeway/kubernetes/objects/object';
import { annotations, labels } from './ownership.ts';

const backendLabel = 'gimbal.projectcontour.io/backend';
const loadBalancerLabel = 'gimbal.projectcontour.io/load-balancer-id';

/**
 * Whether Gimbal's discoverer has made the object for the load balancer that our object stands for: it
 * names the same backend and the same load balancer, and nothing on it is ours.
 */
export function isGimbals(object: KubeObject, wanted: KubeObject): boolean {
  const theirs = object.metadata?.labels ?? {};
  const own = wanted.metadata?.labels ?? {};
  return (
    theirs[labels.backend] === undefined &&
    object.metadata?.annotations?.[annotations.discoveredAs] === undefined &&
    [backendLabel, loadBalancerLabel].every(
      (label) => theirs[label] !== undefined && theirs[label] === own[label],
    )
  );
}
