import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../../src/domain/address.ts';
import { parseAddressRange } from '../../../src/domain/address-range.ts';
import { StaticPortManager } from '../../../src/loadbalancer/gateway/static-port-manager.ts';
import { portManagerContract } from './contract.ts';

const newManager = (...ranges: string[]) => new StaticPortManager(ranges.map(parseAddressRange));

describe('the static port manager', () => {
  portManagerContract({
    newManager: () => Promise.resolve(newManager('192.0.2.1-192.0.2.9', '2001:db8::/120')),
    wishable: () => Promise.resolve(parseAddress('192.0.2.7')),
  });

  test('says when nothing is left, and has it again after a deletion', async () => {
    const manager = newManager('192.0.2.1');
    const wish = { family: 4 as const, requested: undefined, marker: 'm' };
    const only = await manager.create(wish);
    await expect(manager.create(wish)).rejects.toMatchObject({ code: 'exhausted' });
    await manager.delete(only);
    expect((await manager.create(wish)).address).toBe('192.0.2.1');
  });

  test("an address that is not in the list is the user's mistake", async () => {
    const requested = parseAddress('198.51.100.1');
    const refused = newManager('192.0.2.1').create({ family: 4, requested, marker: 'm' });
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    expect(await newManager('192.0.2.1').list(new Set(['198.51.100.1']))).toEqual([]);
  });
});
