import type { Service, ServiceSpec } from './core-objects.ts';

/** Networks of one address each that neither overlap nor touch, so that they can't be merged. */
export function manyRanges(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const value = index * 2;
    return `10.${(value >> 16) & 255}.${(value >> 8) & 255}.${value & 255}/32`;
  });
}

/** A LoadBalancer Service with this number of ports and source ranges, as the API server accepts it. */
export function largeService(ports: number, ranges: number, spec: ServiceSpec = {}): Service {
  return {
    metadata: { namespace: 'shop', name: 'large', uid: 'u-large' },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.9',
      clusterIPs: ['10.96.0.9'],
      ports: Array.from({ length: ports }, (_, index) => ({
        name: `p${index}`,
        port: 1000 + index,
        protocol: 'TCP' as const,
      })),
      loadBalancerSourceRanges: manyRanges(ranges),
      ...spec,
    },
  };
}
