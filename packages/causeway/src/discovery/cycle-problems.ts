import type { ObjectReference } from '@causeway/kubernetes/objects/object';
import { agreementsNeeded, type Held } from './loss-guard.ts';
import type { LoadBalancerPlan } from './plan-project.ts';
import type { Problem } from './problem.ts';

export function aboutNamespace(name: string): ObjectReference {
  return { apiVersion: 'v1', kind: 'Namespace', name };
}

export function discovered({ name, id }: LoadBalancerPlan): Problem {
  return {
    severity: 'note',
    reason: 'Discovered',
    message: `created from load balancer ${JSON.stringify(name)} (${id})`,
  };
}

export function whyHeld({ because }: Held): string {
  return because === 'project-emptied'
    ? 'the project would lose everything'
    : 'too much of the backend would be removed at once';
}

export function deletionsHeld(backend: string, held: Held): Problem {
  const { lost, projectId } = held;
  return {
    severity: 'refusal',
    reason: 'DeletionsHeld',
    message: `${lost.length} load balancers of ${backend} in project ${projectId} seem to be gone or to have lost ports or members; their objects are kept until ${agreementsNeeded} cycles agree or --confirm is given, because ${whyHeld(held)}`,
  };
}

export function projectFailed(
  backend: string,
  { id, name }: { readonly id: string; readonly name: string },
  error: Error,
): Problem {
  return {
    severity: 'refusal',
    reason: 'ProjectFailed',
    message: `project ${JSON.stringify(name)} (${id}) of ${backend}: ${error.message}`,
  };
}

export function projectUnknown(backend: string, name: string): Problem {
  return {
    severity: 'warning',
    reason: 'ProjectUnknown',
    message: `backend ${backend}: the lists of projects name ${JSON.stringify(name)}, but no project has this name`,
  };
}
