import { describe, expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { contentOf, lossBetween, type Content } from './content.ts';

const content = (ports: Record<string, number>): Content =>
  new Map(
    Object.entries(ports).map(([port, count]) => [
      port,
      new Set(Array.from({ length: count }, (_, index) => `10.0.0.${index} 8080`)),
    ]),
  );

describe('losses', () => {
  test.each([
    ['one port of two', { a: 1, b: 1 }, { a: 1 }, 'all of b'],
    ['the endpoints of one of two', { a: 1, b: 1 }, { a: 1, b: 0 }, 'endpoints of b'],
    ['most endpoints', { a: 5, b: 5 }, { a: 5, b: 2 }, 'most endpoints of b'],
  ])('include %s', (_, before, after, way) => {
    const loss = lossBetween(content(before), content(after));
    expect(loss).toMatchObject({ way, ports: 1, leavesContent: true });
  });

  test('can include everything', () => {
    const loss = lossBetween(content({ b: 1, a: 1 }), content({ b: 0 }));
    const way = 'all of a, endpoints of b';
    expect(loss).toMatchObject({ way, ports: 2, endpoints: 2, leavesContent: false });
  });

  test.each([
    ['a port without endpoints that stays so', { a: 0 }, { a: 0 }],
    ['a port that another replaces', { a: 1 }, { b: 1 }],
    ['a new port', {}, { a: 1 }],
  ])('exclude %s', (_, before, after) => {
    expect(lossBetween(content(before), content(after))).toBeUndefined();
  });

  test.each([
    ['half of a port', { a: 4 }, { a: 2 }, 2],
    ['some of several', { a: 10, b: 10, c: 1 }, { a: 9, b: 6, c: 2 }, 5],
    ['a replaced port with fewer endpoints', { a: 10 }, { b: 4 }, 6],
  ])('can be of endpoints only: %s', (_, before, after, endpoints) => {
    const loss = lossBetween(content(before), content(after));
    expect(loss).toMatchObject({ way: 'some endpoints', ports: 0, endpoints, leavesContent: true });
  });

  test('include a port that a new port without endpoints replaces', () => {
    expect(lossBetween(content({ a: 1 }), content({ b: 0 }))?.way).toBe('all of a');
  });
});

describe('ports', () => {
  const service = (name: string): Service => ({ spec: { ports: [{ name, port: 80 }] } });
  const slice: EndpointSlice = {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  };
  const objects = { services: [service('http')], slices: [slice], endpoints: [] };

  test('are identified by number and protocol, not by name', () => {
    const renamed = { ...slice, ports: [{ name: 'web', protocol: 'TCP' as const, port: 8080 }] };
    const after = { services: [service('web')], slices: [renamed], endpoints: [] };
    expect(contentOf(objects)).toEqual(contentOf(after));
  });

  test('without their Service have the number that they are about to get', () => {
    const orphans = { ...objects, services: [] };
    expect(contentOf(orphans, objects.services)).toEqual(contentOf(objects));
    expect(contentOf(orphans).size).toBe(1);
  });

  test('ignore endpoints of other port names', () => {
    const other = { ...slice, ports: [{ name: 'port-80', port: 8080 }] };
    const both = { ...objects, slices: [slice, other] };
    expect(contentOf(both)).toEqual(contentOf(objects));
  });

  test('include the addresses of Endpoints, ready or not', () => {
    const ports = [{ name: 'http', port: 8080 }];
    const subsets = [
      { addresses: [{ ip: '10.0.0.1' }], notReadyAddresses: [{ ip: '10.0.0.2' }], ports },
    ];
    const older = contentOf({ services: objects.services, slices: [], endpoints: [{ subsets }] });
    expect(older).toEqual(new Map([['TCP/80', new Set(['10.0.0.1 8080', '10.0.0.2 8080'])]]));
  });
});
