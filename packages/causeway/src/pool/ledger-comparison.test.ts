import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { holdingAnnotation } from './annotations.ts';
import type { AnnouncerName } from './announcer.ts';
import { formatHolding } from './holding.ts';
import { compareWithLedger, strangeAddresses } from './ledger-comparison.ts';
import type { LedgerReservation } from './pool-ledger.ts';

function reservation(uid: string, address: string, purpose = 'load-balancer'): LedgerReservation {
  const addresses = [parseAddress(address)];
  return { uid, purpose, namespace: 'shop', name: uid, addresses, fencingToken: 5 };
}

function service(uid: string, held: string, shows: string[], announcer: AnnouncerName): Service {
  const holding = { uid, addresses: [{ address: parseAddress(held) }], fencingToken: 5, announcer };
  return {
    metadata: {
      namespace: 'shop',
      name: uid,
      uid,
      annotations: { [holdingAnnotation]: formatHolding(holding) },
    },
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: shows.map((ip) => ({ ip })) } },
  };
}

const kinds = (reservations: LedgerReservation[], services: Service[]) =>
  compareWithLedger(reservations, services, new Set(['releasing'])).map(
    ({ kind, uid }) => `${kind} ${uid}`,
  );

test.each<[string, LedgerReservation[], Service[], string[]]>([
  [
    'all agree',
    [reservation('a', '192.0.2.1'), reservation('control-plane', '192.0.2.9', 'control-plane')],
    [service('a', '192.0.2.1', ['192.0.2.1'], 'metallb')],
    [],
  ],
  ['a deleted Service with a pending release', [reservation('releasing', '192.0.2.1')], [], []],
  ['a deleted Service', [reservation('a', '192.0.2.1')], [], ['leaked a']],
  [
    'a deleted Service with an address that another Service shows',
    [reservation('a', '192.0.2.1'), reservation('b', '192.0.2.2')],
    [service('b', '192.0.2.2', ['192.0.2.2', '192.0.2.1'], 'metallb')],
    ['leaked-but-shown a'],
  ],
  [
    'no reservation in the ledger',
    [],
    [service('a', '192.0.2.1', ['192.0.2.1'], 'plain')],
    ['not-in-ledger a'],
  ],
  [
    'another address in the ledger',
    [reservation('a', '192.0.2.2')],
    [service('a', '192.0.2.1', ['192.0.2.1'], 'plain')],
    ['other-address a'],
  ],
  [
    'an address without announcement',
    [reservation('a', '192.0.2.1')],
    [service('a', '192.0.2.1', [], 'metallb')],
    ['not-announced a'],
  ],
])('%s', (_what, reservations, services, expected) => {
  expect(kinds(reservations, services)).toEqual(expected);
});

test('finds an address that was set by hand', () => {
  const given = service('a', '192.0.2.1', ['192.0.2.1', '192.0.2.66'], 'metallb');
  expect(strangeAddresses(given)).toEqual(['192.0.2.66']);
  expect(strangeAddresses({ ...given, spec: { type: 'ClusterIP' } })).toEqual([]);
});
