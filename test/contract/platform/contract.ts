import { expect, test } from 'vitest';
import type { Address } from '../../../packages/base/src/address/address.ts';
import type { PlatformDriver } from '../../../packages/causeway/src/ipam/platform/platform-driver.ts';

export interface DriverUnderTest {
  readonly driver: () => PlatformDriver;
  /** Whether it creates visible objects. */
  readonly leavesTraces: boolean;
  readonly addresses: readonly [Address, Address];
}

const signal = new AbortController().signal;

/** What every platform guarantees. */
export function platformContract(under: DriverUnderTest): void {
  const [first, second] = under.addresses;
  const key = (address: Address) => ({ site: 'contract', address });
  const listed = async () =>
    (await under.driver().list(signal))
      .filter(({ site }) => site === 'contract')
      .map(({ address }) => address)
      .sort();

  test('creates what an address needs once, and returns the same when repeated', async () => {
    const driver = under.driver();
    const reached = await driver.ensure(key(first), 'a Service', signal);
    expect(await driver.ensure(key(first), 'a Service', signal)).toBe(reached);
    await driver.ensure(key(second), 'another', signal);
    expect(await listed()).toEqual(under.leavesTraces ? [first, second].sort() : []);
    await driver.delete(key(first), signal);
    expect(await listed()).toEqual(under.leavesTraces ? [second] : []);
    await driver.delete(key(second), signal);
    expect(await listed()).toEqual([]);
  });

  test('deleting a missing object succeeds', async () => {
    await under.driver().delete(key(first), signal);
    await under.driver().delete(key(first), signal);
  });
}
