import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { LateDriver } from './late-driver.ts';
import type { PlatformDriver } from './platform-driver.ts';

const { signal } = new AbortController();
const key = { site: 's', address: parseAddress('10.0.0.1') };
const floating = parseAddress('203.0.113.1');

test('fails only the calls that need an unreachable platform, and opens it once when it is back', async () => {
  let isAway = true;
  let opened = 0;
  const deleted: unknown[] = [];
  const driver: PlatformDriver = {
    ensure: () => Promise.resolve(floating),
    delete: (address) => Promise.resolve(void deleted.push(address)),
    list: () => Promise.resolve([key]),
  };
  const late = new LateDriver(() => {
    if (isAway) return Promise.reject(new CausewayError('unavailable', 'away'));
    opened += 1;
    return Promise.resolve(driver);
  });
  await expect(late.ensure(key, 'note', signal)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(late.list(signal)).rejects.toMatchObject({ code: 'unavailable' });
  isAway = false;
  expect(await late.ensure(key, 'note', signal)).toBe(floating);
  expect(await late.list(signal)).toEqual([key]);
  await late.delete(key, signal);
  expect(deleted).toEqual([key]);
  expect(opened).toBe(1);
});
