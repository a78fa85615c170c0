import type { Namespace } from '@causeway/kubernetes/objects/core-objects';
import type { Problem } from './problem.ts';

/** Why no object can be created in an existing namespace. */
export function goingAway({ metadata, status }: Namespace): Problem | undefined {
  if (status?.phase !== 'Terminating') return undefined;
  return {
    severity: 'refusal',
    reason: 'NamespaceTerminating',
    message: `the namespace ${metadata?.name} is being deleted; discovery skips its project until the deletion is complete`,
  };
}
