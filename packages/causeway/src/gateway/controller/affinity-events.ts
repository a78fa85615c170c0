import type { FrontendSpec } from '../../services/frontend-spec.ts';

/** The API server sets this timeout on each Service with session affinity that names none. */
const defaultTimeoutSeconds = 10_800;

/** A warning if some gateways do not support session affinity: they run the agent of ch-k8s-lbaas. */
export function affinityNotKept(
  { policy }: FrontendSpec,
  gateways: readonly string[],
): string | undefined {
  if (gateways.length === 0 || policy.affinity !== 'client') return undefined;
  return `The Service has no session affinity on ${gateways.join(', ')}: the agent of ch-k8s-lbaas does not support it`;
}

/** A warning if the Service has a timeout of its own, which has no effect on gateways. */
export function affinityTimeoutNotUsed({ policy }: FrontendSpec): string | undefined {
  const { affinity, affinityTimeoutSeconds = defaultTimeoutSeconds } = policy;
  if (affinity !== 'client' || affinityTimeoutSeconds === defaultTimeoutSeconds) return undefined;
  return (
    `The gateways do not use the timeout of ${affinityTimeoutSeconds} s for session affinity. ` +
    "They choose the backend by a hash of the client's address, without a time limit: a client keeps its backend until the backends of the Service change."
  );
}
