import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { MemoryAddressRecords } from '../../../packages/causeway/src/gateway/controller/ports/memory-address-records.testing.ts';
import { parseStaticAddresses } from '../../../packages/causeway/src/gateway/controller/ports/static-addresses.ts';
import { StaticPortManager } from '../../../packages/causeway/src/gateway/controller/ports/static-port-manager.ts';
import { portManagerContract } from './contract.ts';

const newManager = (...ranges: string[]) =>
  new StaticPortManager({ ranges: ranges.map(parseStaticAddresses) }, new MemoryAddressRecords());
const signal = new AbortController().signal;
const nothing: ReadonlySet<string> = new Set();

describe('the static port manager', () => {
  const ranges = ['192.0.2.1-192.0.2.9', '2001:db8::/120'].map(parseStaticAddresses);
  const records = new MemoryAddressRecords();
  portManagerContract({
    newManager: () => Promise.resolve(new StaticPortManager({ ranges }, records)),
    requestable: () => Promise.resolve(parseAddress('192.0.2.7')),
  });

  test('reports exhaustion, and assigns the address again after a deletion', async () => {
    const manager = newManager('192.0.2.1');
    const request = { family: 4 as const, requested: undefined, marker: 'm' };
    const only = await manager.create(request, signal);
    await expect(manager.create(request, signal)).rejects.toMatchObject({ code: 'exhausted' });
    await manager.delete(only);
    expect((await manager.create(request, signal)).address).toBe('192.0.2.1');
  });

  test("an address that is not in the list is the user's error", async () => {
    const requested = parseAddress('198.51.100.1');
    const refused = newManager('192.0.2.1').create({ family: 4, requested, marker: 'm' }, signal);
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    expect(await newManager('192.0.2.1').list(new Set(['198.51.100.1']), nothing, signal)).toEqual(
      [],
    );
  });

  test('an address that left the list stays with its Service, and can be deleted', async () => {
    const records = new MemoryAddressRecords();
    const address = parseAddress('192.0.2.1');
    await records.enter([address]);
    const manager = new StaticPortManager({ ranges: [parseStaticAddresses('192.0.2.2')] }, records);
    const [port] = await manager.list(nothing, nothing, signal);
    expect(port?.address).toBe(address);
    expect(manager.standingOf(address)).toBe('unlisted');
    expect(await manager.list(new Set([address]), nothing, signal)).toEqual([port]);
    expect(await manager.find(address)).toEqual(port);
    if (port !== undefined) await manager.delete(port);
    expect(await records.read()).toEqual(new Set());
  });

  test('no Service gets an address of a retiring range', async () => {
    const manager = new StaticPortManager(
      {
        ranges: [parseStaticAddresses('192.0.2.1-192.0.2.2')],
        retiring: [parseStaticAddresses('192.0.2.1')],
      },
      new MemoryAddressRecords(),
    );
    const requested = parseAddress('192.0.2.1');
    expect(manager.standingOf(requested)).toBe('retiring');
    const refused = manager.create({ family: 4, requested, marker: 'm' }, signal);
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    const given = await manager.create({ family: 4, requested: undefined, marker: 'm' }, signal);
    expect(given.address).toBe('192.0.2.2');
  });
});
