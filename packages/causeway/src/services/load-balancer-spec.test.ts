import { describe, expect, test } from 'vitest';
import { parsePort } from '@causeway/base/address/port';
import type { ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import {
  legacyPortAnnotation,
  portAnnotations,
  portsAnnotation,
  readPlace,
  readPortIds,
} from '../gateway/controller/ports/annotations.ts';
import { addressAnnotation, sharingKeyAnnotation } from './annotations.ts';
import type { L4Port } from './l4-port.ts';
import { readLoadBalancerSpec } from './load-balancer-spec.ts';
import type { FrontendSpec } from './frontend-spec.ts';
import { frontendFromService } from './frontend-from-service.ts';

function makeService(spec: ServiceSpec, annotations: Record<string, string> = {}): FrontendSpec {
  return frontendFromService({
    metadata: { namespace: 'shop', name: 'web', annotations },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
  });
}

describe('readLoadBalancerSpec', () => {
  test('reads the ports and families of a Service, and shares within its namespace by default', () => {
    const reading = readLoadBalancerSpec(
      makeService({ ports: [{ port: 53, protocol: 'UDP' }, { port: 80 }] }),
      [4, 6],
    );
    expect(reading).toEqual({
      kind: 'needs',
      needs: {
        families: [4],
        isFamilyOptional: false,
        ports: [
          { protocol: 'UDP', port: 53 },
          { protocol: 'TCP', port: 80 },
        ],
        sharingGroup: 'namespace:shop',
        requested: new Map(),
      },
    });
  });

  test('serves the families of a dual-stack Service in which the gateways have addresses', () => {
    const service = makeService({ ipFamilies: ['IPv6', 'IPv4'] });
    expect(readLoadBalancerSpec(service, [4, 6])).toMatchObject({ needs: { families: [6, 4] } });
    expect(readLoadBalancerSpec(service, [4])).toMatchObject({ needs: { families: [4] } });
  });

  test('a Service that prefers two families is served without the one that is exhausted', () => {
    const ipFamilies = ['IPv4', 'IPv6'] as const;
    const service = makeService({ ipFamilies, ipFamilyPolicy: 'PreferDualStack' });
    expect(readLoadBalancerSpec(service, [4, 6])).toMatchObject({
      needs: { families: [4, 6], isFamilyOptional: true },
    });
    expect(readLoadBalancerSpec(service, [4])).toMatchObject({
      needs: { families: [4], isFamilyOptional: false },
    });
  });

  test('a Service that requires two families is refused by gateways with one', () => {
    const ipFamilies = ['IPv4', 'IPv6'] as const;
    const service = makeService({ ipFamilies, ipFamilyPolicy: 'RequireDualStack' });
    expect(readLoadBalancerSpec(service, [4])).toEqual({
      kind: 'refused',
      reason: 'NoSuchFamily',
      message:
        'The Service requires IPv4 and IPv6, and the gateways have addresses of IPv4 only. To use one family, set spec.ipFamilyPolicy: PreferDualStack.',
    });
    expect(readLoadBalancerSpec(service, [4, 6])).toMatchObject({
      needs: { families: [4, 6], isFamilyOptional: false },
    });
  });

  test('uses the sharing key as the sharing group', () => {
    const service = makeService({}, { [sharingKeyAnnotation]: 'edge' });
    expect(readLoadBalancerSpec(service, [4])).toMatchObject({
      needs: { sharingGroup: 'key:edge' },
    });
  });

  test('reads the requested address from the annotation or from the field', () => {
    const wanted = new Map([
      [4, '192.0.2.7'],
      [6, '2001:db8::7'],
    ]);
    const both = makeService(
      { ipFamilies: ['IPv4', 'IPv6'] },
      { [addressAnnotation]: '192.0.2.7, 2001:DB8::7' },
    );
    expect(readLoadBalancerSpec(both, [4, 6])).toMatchObject({ needs: { requested: wanted } });
    const field = makeService({ loadBalancerIP: '192.0.2.7' });
    expect(readLoadBalancerSpec(field, [4])).toMatchObject({
      needs: { requested: new Map([[4, '192.0.2.7']]) },
    });
  });

  test.each<[string, FrontendSpec, string]>([
    [
      'a family in which no gateway has an address',
      makeService({ ipFamilies: ['IPv6'] }),
      'NoSuchFamily',
    ],
    [
      'an invalid address',
      makeService({}, { [addressAnnotation]: '192.0.2.300' }),
      'InvalidAddress',
    ],
    [
      'two addresses of one family',
      makeService({}, { [addressAnnotation]: '192.0.2.1,192.0.2.2' }),
      'InvalidAddress',
    ],
    [
      'an address of a family that the Service does not use',
      makeService({}, { [addressAnnotation]: '2001:db8::1' }),
      'AddressOfOtherFamily',
    ],
    [
      'an annotation and a field with different addresses',
      makeService({ loadBalancerIP: '192.0.2.1' }, { [addressAnnotation]: '192.0.2.2' }),
      'AddressesDiffer',
    ],
  ])('rejects %s', (_name, service, reason) => {
    expect(readLoadBalancerSpec(service, [4])).toMatchObject({ kind: 'refused', reason });
  });
});

describe('the ports annotation', () => {
  const ids = new Map([
    [4, 'id-4'],
    [6, 'id-6'],
  ] as const);
  const held: readonly L4Port[] = [
    { protocol: 'UDP', port: parsePort(53) },
    { protocol: 'TCP', port: parsePort(53) },
  ];
  const withAnnotations = (annotations: Record<string, string | null>) =>
    makeService({}, annotations as Record<string, string>);

  const place = { held, sharingGroup: 'key:edge' };
  const nowhere = { held: undefined, sharingGroup: undefined };

  test('is read back as it was written', () => {
    const service = withAnnotations(portAnnotations(ids, place, false));
    expect(readPortIds(service)).toEqual(ids);
    expect(readPlace(service)).toEqual({ held: [...held].reverse(), sharingGroup: 'key:edge' });
  });

  test.each(['"http"', '80', '"80/ICMP"', '"0/TCP"'])(
    'with %s in it has no readable ports',
    (text) => {
      const written = `{"version":1,"ipv4":"id-4","held":["53/TCP",${text}]}`;
      expect(readPlace(withAnnotations({ [portsAnnotation]: written })).held).toBeUndefined();
    },
  );

  test('of an older version has no ports and no sharing group', () => {
    const older = withAnnotations({ [portsAnnotation]: '{"version":1,"ipv4":"id-4"}' });
    expect(readPlace(older)).toEqual(nowhere);
  });

  test('is written together with the legacy annotation on request', () => {
    expect(portAnnotations(ids, place, true)).toMatchObject({ [legacyPortAnnotation]: 'id-4' });
    expect(portAnnotations(new Map(), nowhere, true)).toMatchObject({
      [portsAnnotation]: null,
      [legacyPortAnnotation]: null,
    });
  });

  test('falls back to the annotation of ch-k8s-lbaas', () => {
    expect(readPortIds(withAnnotations({ [legacyPortAnnotation]: 'old' }))).toEqual(
      new Map([[4, 'old']]),
    );
  });

  test.each(['', '{', '[]', '{"version":2,"ipv4":"x"}'])('%j is treated as missing', (text) => {
    expect(readPortIds(withAnnotations({ [portsAnnotation]: text })).size).toBe(0);
  });
});
