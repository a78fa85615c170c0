import type { Endpoints, EndpointSubset } from '@causeway/kubernetes/objects/core-objects';
import { subsetsMark } from './content-mark.ts';
import { originLabels, originMarks, type Origin } from './ownership.ts';
import type { Problem } from './problem.ts';
import type { Place } from './service-object.ts';
import type { WantedEndpoint, WantedPort } from './translate.ts';

/** The older kind: everything in one object, a subset for each listener and member port. */
export function endpointsObject(
  origin: Origin,
  { namespace, name }: Place,
  ports: readonly WantedPort[],
): Endpoints {
  const subsets = ports.flatMap(({ name: portName, protocol, appProtocol, groups }) => {
    const memberPorts = [...new Set(groups.map(({ memberPort }) => memberPort))];
    return memberPorts.map((memberPort): EndpointSubset => {
      const all = groups.flatMap((group) =>
        group.memberPort === memberPort ? group.endpoints : [],
      );
      const spoken = appProtocol === undefined ? {} : { appProtocol };
      return {
        ...addresses('addresses', all, true),
        ...addresses('notReadyAddresses', all, false),
        ports: [{ name: portName, port: memberPort, protocol, ...spoken }],
      };
    });
  });
  return {
    metadata: {
      namespace,
      name,
      labels: originLabels(origin),
      annotations: { ...originMarks(origin, { namespace, name }), ...subsetsMark(subsets) },
    },
    ...(subsets.length === 0 ? {} : { subsets }),
  };
}

function addresses(
  field: 'addresses' | 'notReadyAddresses',
  endpoints: readonly WantedEndpoint[],
  isReady: boolean,
): EndpointSubset {
  const chosen = endpoints.filter((endpoint) => endpoint.isReady === isReady);
  return chosen.length === 0 ? {} : { [field]: chosen.map(({ address }) => ({ ip: address })) };
}

/** Number of endpoints of a subset that Kubernetes mirrors to slices, which most clients read. */
const mostMirrored = 1000;

export function tooManyToMirror({ subsets }: Endpoints): Problem | undefined {
  const most = Math.max(
    0,
    ...(subsets ?? []).map(
      ({ addresses: ready = [], notReadyAddresses: others = [] }) => ready.length + others.length,
    ),
  );
  if (most <= mostMirrored) return undefined;
  return {
    severity: 'warning',
    reason: 'EndpointsNotMirrored',
    message: `a port has ${most} endpoints, and Kubernetes mirrors only the first ${mostMirrored} in Endpoints to slices; use the kind EndpointSlice`,
  };
}
