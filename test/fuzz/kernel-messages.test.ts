import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  parseAdvertisement,
  parseArp,
} from '../../packages/causeway/src/gateway/agent/announce/neighbours/neighbour-binding.ts';
import { hostAddressesIn } from '../../packages/causeway/src/gateway/agent/announce/keepalived/link-addresses.ts';
import { tryParseAddress } from '../../packages/base/src/address/address.ts';
import {
  decodeChain,
  decodeCounters,
  decodeElements,
  decodeRule,
  decodeSet,
  entryOffsets,
} from '../../packages/nftables/src/drivers/netlink/decode.ts';
import { BatchEncoder } from '../../packages/nftables/src/drivers/netlink/encode-operation.ts';
import { foreignChanges } from '../../packages/nftables/src/drivers/netlink/foreign-events.ts';
import { kernelErrors } from '../../packages/nftables/src/drivers/netlink/kernel-error.ts';
import { messageAttributes, readMessages } from '../../packages/netlink/src/reader.ts';
import { connectionsIn } from '../../packages/nftables/src/conntrack/read-connections.ts';
import { deletionRequest } from '../../packages/nftables/src/conntrack/tracked-connection.ts';
import { MessageWriter } from '../../packages/netlink/src/writer.ts';
import { strictChains } from '../../packages/nftables/src/drivers/foreign-firewall.ts';
import { parseCounters, parseListing } from '../../packages/nftables/src/drivers/nft-json.ts';
import type { SetDefinition } from '../../packages/nftables/src/model/ruleset.ts';
import { fillChecksums, summarize } from '../../packages/causeway/src/node-proxy/holder/packet.ts';
import { loggedPackets } from '../../packages/causeway/src/node-proxy/holder/packet-tap.ts';
import { attempt, hostileBytes, hostileJson, hostileText, nearly, nearlyBytes } from './hostile.ts';

const definition: SetDefinition = {
  name: 'dispatch',
  key: ['ipv4_addr', 'inet_proto', 'inet_service', 'slot'],
  value: ['ipv4_addr', 'inet_service'],
};
const interval: SetDefinition = { name: 'ranges', key: ['ipv4_addr'], interval: true };

/** A valid batch: a set and its elements. */
function sound(): Buffer {
  const writer = new MessageWriter(16);
  const batch = new BatchEncoder(writer, 'table', 0, 10);
  const elements = [
    { key: ['192.0.2.1', 6, 80, 0], value: ['10.0.0.1', 8080] },
    { key: ['192.0.2.1', 6, 80, 1], value: ['10.0.0.2', 8080] },
  ] as never;
  batch.encode({ op: 'add-set', definition });
  batch.encode({ op: 'add-elements', set: definition, elements });
  return Buffer.from(writer.bytes());
}

test('netlink messages of any bytes are parsed within their bounds', () => {
  fc.assert(
    fc.property(fc.oneof(hostileBytes, nearlyBytes(sound())), (bytes) => {
      const messages = [...readMessages(bytes)];
      const size = messages.reduce((sum, { payload }) => sum + payload.length, 0);
      expect(size).toBeLessThanOrEqual(bytes.length);
      for (const message of messages) {
        decodeChain(message);
        decodeRule(message);
        decodeSet(message);
      }
      for (const each of [definition, interval]) {
        attempt(() => decodeElements(each, messages), ['internal']);
        attempt(() => decodeCounters(each, messages), ['internal']);
      }
      entryOffsets(bytes);
      for (const { table } of foreignChanges(bytes, 'table', () => false)) {
        expect(table).toBe('table');
      }
      for (const { errno } of kernelErrors(bytes)) expect(errno).not.toBe(0);
    }),
    { numRuns: 500 },
  );
});

/** A TCP connection as the kernel lists it, with both directions, its state and its number. */
function tracked(): Buffer {
  const writer = new MessageWriter(16);
  writer.message(0x100, 0, 1, 2);
  for (const direction of [1, 2]) {
    writer.nest(direction, () => {
      writer.nest(1, () => {
        writer.bytesAttribute(1, Buffer.from([192, 0, 2, 1]));
        writer.bytesAttribute(2, Buffer.from([10, 0, 0, 1]));
      });
      writer.nest(2, () => {
        writer.u8(1, 6);
        writer.bytesAttribute(2, Buffer.from([4, 210]));
        writer.bytesAttribute(3, Buffer.from([0, 80]));
      });
    });
  }
  writer.u32(3, 0x2a);
  writer.u32(12, 4711);
  writer.endMessage();
  return Buffer.from(writer.bytes());
}

test('connections that the kernel lists are parsed within their bounds, and written unchanged', () => {
  const queries = [
    { family: 4 },
    { family: 6, protocol: 17 },
    { family: 4, status: 0x20 },
  ] as const;
  expect([...connectionsIn(tracked(), queries[0])][0]).toMatchObject({
    original: { protocol: 6, sourcePort: 1234, destinationPort: 80 },
    isAnswered: true,
  });
  fc.assert(
    fc.property(fc.oneof(hostileBytes, nearlyBytes(tracked())), (bytes) => {
      for (const query of queries) {
        for (const connection of attempt(() => [...connectionsIn(bytes, query)], ['unavailable']) ??
          []) {
          for (const { protocol, sourcePort, destinationPort } of [
            connection.original,
            connection.reply,
          ]) {
            expect(protocol).toBeLessThanOrEqual(255);
            expect(Math.max(sourcePort, destinationPort)).toBeLessThanOrEqual(65_535);
          }
          const [deletion, ...more] = readMessages(deletionRequest([connection], 1));
          expect(more).toEqual([]);
          const named = deletion && messageAttributes(deletion).bytes(1);
          expect(named?.equals(connection.rawOriginal)).toBe(true);
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

test('logged packets are copied within their message', () => {
  fc.assert(
    fc.property(fc.oneof(hostileBytes, nearlyBytes(sound())), (bytes) => {
      const messages = [bytes, Buffer.concat([header(bytes.length + 16), bytes])];
      for (const each of messages) {
        for (const { packet } of loggedPackets({ kind: 'packets', bytes: each })) {
          expect(packet.length).toBeLessThanOrEqual(each.length);
        }
      }
    }),
  );
});

/** Header of a message with a logged packet. */
function header(length: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt16LE(0x400, 4);
  return bytes;
}

const tcp4 = Buffer.from(
  '4500002800010000400600000a0000010a00000204d20050000000000000000050022000000000',
  'hex',
);
const udp6 = Buffer.from(
  `6000000000083a40${'fd'.repeat(16)}${'fc'.repeat(16)}0035003500080000`,
  'hex',
);

test('packets of any bytes are held only if they are complete, and keep their length', () => {
  fc.assert(
    fc.property(fc.oneof(hostileBytes, nearlyBytes(tcp4), nearlyBytes(udp6)), (bytes) => {
      const before = bytes.length;
      const summary = summarize(bytes);
      if (summary !== undefined) expect(bytes.length).toBeGreaterThanOrEqual(28);
      fillChecksums(bytes);
      expect(bytes.length).toBe(before);
      expect(summarize(bytes)).toEqual(summary);
    }),
    { numRuns: 500 },
  );
});

test('neighbour bindings on the link are addresses', () => {
  fc.assert(
    fc.property(hostileBytes, (bytes) => {
      const forced = [Buffer.concat([Buffer.from('00010800', 'hex'), bytes])];
      const advert = Buffer.concat([Buffer.from([136]), bytes]);
      for (const binding of [
        parseArp(bytes),
        ...forced.map(parseArp),
        parseAdvertisement(advert),
      ]) {
        if (binding === undefined) continue;
        expect(tryParseAddress(binding.address)).toBe(binding.address);
        expect(binding.hardware).toMatch(/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/);
      }
    }),
  );
});

test("nft's listings of anything are rules, or rejected", () => {
  const valid = {
    nftables: [
      { metainfo: { version: '1.0' } },
      { table: { family: 'inet', name: 't' } },
      { chain: { family: 'inet', table: 't', name: 'c', type: 'nat', hook: 'input', prio: 1 } },
      { set: { family: 'inet', table: 't', name: 's', type: 'ipv4_addr', elem: ['192.0.2.1'] } },
      { rule: { family: 'inet', table: 't', chain: 'c', comment: 'x', expr: [] } },
    ],
  };
  const text = fc.oneof(
    hostileText,
    fc.oneof(hostileJson, nearly(valid)).map((value) => JSON.stringify(value) ?? ''),
  );
  fc.assert(
    fc.property(text, (some) => {
      attempt(() => parseListing('t', some), ['internal']);
      attempt(() => parseCounters('s', some), ['internal']);
      for (const { chain } of attempt(() => strictChains('ours', some)) ?? []) {
        expect(chain).not.toMatch(/^inet ours /);
      }
    }),
    { numRuns: 300 },
  );
});

test("ip's listings of anything are addresses, or rejected", () => {
  const link = {
    ifname: 'eth0',
    operstate: 'UP',
    addr_info: [{ family: 'inet', local: '192.0.2.1', prefixlen: 32 }],
  };
  expect([...hostAddressesIn(JSON.stringify([{}, link]))]).toEqual(['192.0.2.1']);
  const text = fc.oneof(
    hostileText,
    fc.oneof(hostileJson, nearly([{}, link])).map((value) => JSON.stringify(value) ?? ''),
  );
  fc.assert(
    fc.property(text, (some) => {
      for (const address of attempt(() => hostAddressesIn(some)) ?? []) {
        expect(tryParseAddress(address)).toBe(address);
      }
    }),
    { numRuns: 300 },
  );
});
