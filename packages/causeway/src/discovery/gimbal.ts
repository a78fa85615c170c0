import type { KubeObject } from '@causeway/kubernetes/objects/object';
import { annotations, labels } from './ownership.ts';

const backendLabel = 'gimbal.projectcontour.io/backend';
const loadBalancerLabel = 'gimbal.projectcontour.io/load-balancer-id';

/**
 * Whether Gimbal's discoverer created the object for the same load balancer as ours: it names the same
 * backend and load balancer, and has no mark of Causeway.
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
