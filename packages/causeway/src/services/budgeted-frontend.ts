import type { Budgeted } from '@causeway/kubernetes/objects/service-budget';
import type { FrontendSpec } from './frontend-spec.ts';

/** The parts of a frontend that the budget of a Service limits. */
export function budgetedFrontend(frontend: FrontendSpec): Budgeted {
  const { annotations, backends, policy, requestedAddress, ports, externalIps, published } =
    frontend;
  return {
    annotations,
    sourceRanges: policy.sourceRanges,
    clusterAddresses: backends.clusterAddresses,
    requestedAddress,
    ports,
    externalIps,
    published,
  };
}
