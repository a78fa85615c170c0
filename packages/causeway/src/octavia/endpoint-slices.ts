import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { KlbEndpoint, KlbEndpointSlice } from './kuryr-load-balancer.ts';

/** An object is limited to 1.5 MB. With more endpoints than this, only the fields that members need fit. */
const mostInFull = 2_000;

/** Slices in Kuryr's format, in a stable order. */
export function toKlbSlices(slices: readonly EndpointSlice[]): KlbEndpointSlice[] {
  const count = slices.reduce((sum, { endpoints }) => sum + (endpoints?.length ?? 0), 0);
  const toEndpoint = count > mostInFull ? toShortEndpoint : toKlbEndpoint;
  return [...slices]
    .filter(({ addressType }) => addressType !== 'FQDN')
    .sort((left, right) => compare(left.metadata?.name, right.metadata?.name))
    .map(({ endpoints, ports }) => ({
      endpoints: [...(endpoints ?? [])]
        .sort((left, right) => compare(left.addresses[0], right.addresses[0]))
        .map(toEndpoint),
      ports: (ports ?? []).map(({ name, port, protocol }) => ({
        ...(name === undefined || name === '' ? {} : { name }),
        ...(port === undefined ? {} : { port }),
        protocol: protocol ?? 'TCP',
      })),
    }));
}

/** Without the target's version, which changes with every update of a pod and is not needed. */
function toKlbEndpoint({ addresses, conditions, hostname, targetRef }: Endpoint): KlbEndpoint {
  return {
    addresses,
    conditions: { ready: conditions?.ready !== false },
    ...(hostname === undefined ? {} : { hostname }),
    ...(targetRef === undefined
      ? {}
      : {
          targetRef: {
            ...(targetRef.kind === undefined ? {} : { kind: targetRef.kind }),
            ...(targetRef.name === undefined ? {} : { name: targetRef.name }),
            ...(targetRef.namespace === undefined ? {} : { namespace: targetRef.namespace }),
            ...(targetRef.uid === undefined ? {} : { uid: targetRef.uid }),
          },
        }),
  };
}

function toShortEndpoint({ addresses, conditions, targetRef }: Endpoint): KlbEndpoint {
  return {
    addresses,
    ...(conditions?.ready === false ? { conditions: { ready: false } } : {}),
    ...(targetRef?.name === undefined ? {} : { targetRef: { name: targetRef.name } }),
  };
}

function compare(left = '', right = ''): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
