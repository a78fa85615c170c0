import { describe, expect, test } from 'vitest';
import { parsePort } from '@causeway/base/address/port';
import { listenersOf, serviceObject, withoutForeignPorts } from './service-object.ts';
import type { WantedPort } from './translate.ts';

const origin = {
  backend: 'east',
  project: { id: 'p', name: 'shop' },
  loadBalancer: { id: 'lb', name: 'web' },
  address: undefined,
};

function service(count: number, listenerName: string, l7PoolIds: readonly string[] = []) {
  const ports = Array.from(
    { length: count },
    (_, index): WantedPort => ({
      name: `http-${index + 1}`,
      protocol: 'TCP',
      port: parsePort(index + 1),
      appProtocol: undefined,
      listener: { id: `listener-${index}`, name: listenerName, protocol: 'TCP' },
      groups: [],
    }),
  );
  const place = { namespace: 'shop', name: 'web' };
  return serviceObject(origin, place, { ports, l7PoolIds, problems: [] }, 'Headless');
}

/** As Kubernetes counts them. */
const bytesOf = (made: ReturnType<typeof service>) =>
  Object.entries(made.metadata?.annotations ?? {}).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );

describe('annotations', () => {
  test('have the original names', () => {
    const names = Object.values(listenersOf(service(2, 'Größe')) ?? {});
    expect(names).toEqual([
      { id: 'listener-0', name: 'Größe', protocol: 'TCP' },
      { id: 'listener-1', name: 'Größe', protocol: 'TCP' },
    ]);
  });

  test.each([
    [180, '\u0001'.repeat(255), 'listener-7'],
    [1500, '💥'.repeat(127), 'listener-7'],
  ])('of %i listeners with long names fit, and name every port', (count, name, id) => {
    const made = service(count, name);
    expect(bytesOf(made)).toBeLessThan(256 * 1024);
    const known = listenersOf(made) ?? {};
    expect(Object.keys(known)).toHaveLength(count);
    expect(known['http-8']).toMatchObject({ id });
    expect(withoutForeignPorts(made).spec?.ports).toHaveLength(count);
  });

  test('of thousands of pools that policies choose fit too', () => {
    const ids = Array.from({ length: 9000 }, (_, index) => String(index).padStart(36, '0'));
    expect(bytesOf(service(1, 'web', ids))).toBeLessThan(256 * 1024);
  });
});

test('drops ports that the Service does not list as its own', () => {
  const made = service(1, 'web');
  const ports = [...(made.spec?.ports ?? []), { name: 'theirs', port: 99 }];
  const edited = { ...made, spec: { ...made.spec, ports } };
  expect(withoutForeignPorts(edited).spec?.ports).toEqual(made.spec?.ports);
  // Without the list, all of them count.
  const bare = { ...edited, metadata: { name: 'web' } };
  expect(withoutForeignPorts(bare).spec?.ports).toEqual(ports);
});
