import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tryParseAddress } from '../../packages/base/src/address/address.ts';
import { configMaps } from '../../packages/kubernetes/src/objects/resources.ts';
import {
  addressRecordsName,
  ConfigMapAddressRecords,
} from '../../packages/causeway/src/gateway/controller/ports/address-records.ts';
import { PendingReleases } from '../../packages/causeway/src/pool/pending-releases.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { memoryKubeClient } from '../../packages/fake-kubernetes/src/memory-client.testing.ts';
import { attemptAsync, hostileJson, hostileText, nearlyText } from './hostile.ts';

const { signal } = new AbortController();
const namespace = 'kube-system';
/** Keys that the API server accepts. */
const keys = fc.oneof(
  fc.stringMatching(/^[-_a-zA-Z0-9][-._a-zA-Z0-9]{0,39}$/),
  fc.constantFrom('constructor', 'toString', '__proto__', 'version'),
);

async function clientWith(name: string, data: Record<string, string>) {
  const client = memoryKubeClient();
  await client.create(configMaps, { metadata: { namespace, name }, data });
  return client;
}

describe("the controller's own records, after edits of ConfigMaps by other users", () => {
  test('are reservations where every line counts, or rejected', async () => {
    const addresses = fc.ipV4().map((address) => [address, 'given'] as const);
    const lines = fc.oneof({ arbitrary: addresses, weight: 9 }, fc.tuple(keys, hostileText));
    let recordsRead = 0;
    const records = async (entries: readonly (readonly [string, string])[]) => {
      const data = Object.fromEntries(entries);
      const client = await clientWith(addressRecordsName, data);
      const options = { client, namespace, clock: systemClock };
      const read = await attemptAsync(() => new ConfigMapAddressRecords(options).read(signal));
      if (read === undefined) return;
      recordsRead += 1;
      expect(read.size).toBe(Object.keys(data).filter((key) => key !== 'version').length);
      for (const address of read) expect(tryParseAddress(address)).toBe(address);
    };
    await fc.assert(fc.asyncProperty(fc.array(lines, { maxLength: 6 }), records), { numRuns: 300 });
    expect(recordsRead).toBeGreaterThan(50);
  });

  test('are a list of deleted Services that keeps unreadable entries', async () => {
    const announced = { by: 'kube-vip', namespace: 'shop', name: 'web', wasSeen: true };
    const known = JSON.stringify({ fencingToken: 7, withdrawn: true, announced });
    const text = fc.oneof(
      ...[nearlyText(known), hostileText, fc.constant(known)],
      hostileJson.map((value) => JSON.stringify(value)),
    );
    let found = 0;
    const list = async (data: Record<string, string>) => {
      const name = 'causeway-pool-pending-releases';
      const client = await clientWith(name, data);
      const departures = await new PendingReleases(client, namespace).list(signal);
      for (const { uid, withdrawn } of departures) {
        expect(Object.hasOwn(data, uid)).toBe(true);
        expect(typeof withdrawn).toBe('boolean');
      }
      found += departures.length;
      expect((await client.get(configMaps, { namespace, name })).data ?? {}).toEqual(data);
    };
    await fc.assert(fc.asyncProperty(fc.dictionary(keys, text, { maxKeys: 4 }), list), {
      numRuns: 300,
    });
    expect(found).toBeGreaterThan(50);
  });
});
