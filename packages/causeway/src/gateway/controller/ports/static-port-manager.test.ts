import { describe, expect, test } from 'vitest';
import { parseAddress, type Family } from '@causeway/base/address/address';
import { formatAddressRange } from '@causeway/base/address/address-range';
import { MemoryAddressRecords } from './memory-address-records.testing.ts';
import { parseStaticAddresses } from './static-addresses.ts';
import { StaticPortManager } from './static-port-manager.ts';

const signal = new AbortController().signal;

const managerOf = (...list: string[]) =>
  new StaticPortManager({ ranges: list.map(parseStaticAddresses) }, new MemoryAddressRecords());

/** Takes addresses until none is left. */
async function takeAll(manager: StaticPortManager, family: Family): Promise<string[]> {
  const taken: string[] = [];
  for (;;) {
    const marker = String(taken.length);
    const port = await manager
      .create({ marker, family, requested: undefined }, signal)
      .catch(() => undefined);
    if (port === undefined) return taken;
    taken.push(port.address);
  }
}

describe('the addresses that Services get without a request', () => {
  test.each([
    ['192.0.2.0/24', '192.0.2.1-192.0.2.254'],
    ['192.0.2.64/30', '192.0.2.65-192.0.2.66'],
    ['192.0.2.64/31', '192.0.2.64-192.0.2.65'],
    ['192.0.2.64/32', '192.0.2.64'],
    ['2001:db8::/125', '2001:db8::1-2001:db8::7'],
    ['2001:db8::/127', '2001:db8::-2001:db8::1'],
    ['2001:db8::/128', '2001:db8::'],
    ['192.0.2.0-192.0.2.3', '192.0.2.0-192.0.2.3'],
    ['192.0.2.255', '192.0.2.255'],
  ])('of %s are %s', (entry, automatic) => {
    expect(formatAddressRange(parseStaticAddresses(entry).automatic)).toBe(automatic);
  });

  test('leave out the network and broadcast address', async () => {
    expect(await takeAll(managerOf('192.0.2.0/29'), 4)).toEqual([
      '192.0.2.1',
      '192.0.2.2',
      '192.0.2.3',
      '192.0.2.4',
      '192.0.2.5',
      '192.0.2.6',
    ]);
    expect(await takeAll(managerOf('2001:db8::/126'), 6)).toEqual([
      '2001:db8::1',
      '2001:db8::2',
      '2001:db8::3',
    ]);
  });

  test('include an address that the list names itself', async () => {
    expect(await takeAll(managerOf('192.0.2.0/30', '192.0.2.3'), 4)).toEqual([
      '192.0.2.1',
      '192.0.2.2',
      '192.0.2.3',
    ]);
  });
});

test.each(['192.0.2.0', '192.0.2.7'])('a Service gets %s on request', async (text) => {
  const requested = parseAddress(text);
  const port = await managerOf('192.0.2.0/29').create(
    { marker: 'a', family: 4, requested },
    signal,
  );
  expect(port.address).toBe(text);
});

test('a network address that a Service has already stays with the Service', async () => {
  const manager = managerOf('192.0.2.0/29');
  const listed = await manager.list(new Set(['192.0.2.0']), new Set(), signal);
  expect(listed.map(({ address }) => address)).toEqual(['192.0.2.0']);
  expect(await manager.find('192.0.2.0')).toMatchObject({ address: '192.0.2.0' });
});
