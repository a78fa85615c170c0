import { describe, expect, test } from 'vitest';
import { TestAllocator, refusal } from './test-allocator.testing.ts';
import { poolSpecSchema } from './records.ts';
import { drainPool, removePool, setPool, setSite } from './site-decisions.ts';

const pool = { name: 'p', addresses: ['192.0.2.1-192.0.2.4'] };
const { drained: _unsaid, ...spec } = poolSpecSchema.parse(pool);

describe('a pool that is set again', () => {
  test('stays drained unless the change says otherwise', () => {
    const testAllocator = new TestAllocator().withSite([pool]);
    testAllocator.run(drainPool({ site: 's', pool: 'p', drained: true }));
    const addresses = ['192.0.2.1-192.0.2.9'];
    expect(testAllocator.run(setPool({ site: 's', pool: { ...spec, addresses } }))).toMatchObject({
      addresses,
      drained: true,
    });
    const said = { ...spec, drained: false };
    expect(testAllocator.run(setPool({ site: 's', pool: said }))).toMatchObject({ drained: false });
  });

  test('is refused if the gateways and networks of other pools leave it no address', () => {
    const testAllocator = new TestAllocator().withSite([
      { ...pool, addresses: ['192.0.2.0/29'], gateways: ['192.0.2.9'] },
    ]);
    const nothing = { ...spec, name: 'q', addresses: ['192.0.2.7', '192.0.2.9'] };
    expect(() => testAllocator.run(setPool({ site: 's', pool: nothing }))).toThrow(
      'no address to assign',
    );
  });

  test('is refused if it overlaps', () => {
    const testAllocator = new TestAllocator().withSite([pool]);
    const other = { ...spec, name: 'q', addresses: ['192.0.2.4-192.0.2.9'] };
    expect(() => testAllocator.run(setPool({ site: 's', pool: other }))).toThrow('overlaps pool p');
  });
});

test('a pool is not removed while its addresses are held, inside or outside of its ranges', () => {
  const testAllocator = new TestAllocator().withSite([pool]).withCluster('a');
  testAllocator.take('a', '1');
  testAllocator.run(setPool({ site: 's', pool: { ...spec, addresses: ['192.0.2.9'] } }));
  const remove = () => testAllocator.run(removePool({ site: 's', pool: 'p' }));
  expect(remove).toThrow(refusal('pool-in-use'));
  testAllocator.free('a', '1');
  expect(remove()).toMatchObject({ pools: [] });
});

test.each([
  ['no time', { unconfirmedQuarantineMs: 0 }],
  ['less than the difference between clocks', { unconfirmedQuarantineMs: 4_999 }],
  ['less than after a confirmed withdrawal', { quarantineMs: 700_000 }],
])('an address that may still be announced has no quarantine of %s', (_what, settings) => {
  const testAllocator = new TestAllocator().withSite([pool]);
  const set = () => testAllocator.run(setSite({ site: 's', settings }));
  expect(set).toThrow('is too short');
  expect(set).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
});
