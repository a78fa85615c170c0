import { describe, expect, it } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { fillChecksums, summarize, targetOf } from './packet.ts';
import { datagram4, syn4, syn6 } from './testing/packets.ts';

const virtual = (text: string, protocol: 'TCP' | 'UDP', number: number) => ({
  address: address(text),
  protocol,
  port: port(number),
  dispatch: { kind: 'slots' as const, backends: [] },
});

describe('summarize', () => {
  it('recognizes a packet by its target and its flow', () => {
    const one = summarize(
      syn4({ from: '10.1.0.2', fromPort: 40_000, to: '10.96.0.10', toPort: 80 }),
    );
    const again = summarize(
      syn4({ from: '10.1.0.2', fromPort: 40_000, to: '10.96.0.10', toPort: 80 }),
    );
    const other = summarize(
      syn4({ from: '10.1.0.2', fromPort: 40_001, to: '10.96.0.10', toPort: 80 }),
    );
    expect(one?.target).toBe(targetOf(virtual('10.96.0.10', 'TCP', 80)));
    expect(one?.target).not.toBe(targetOf(virtual('10.96.0.10', 'UDP', 80)));
    expect(one?.flow).toBe(again?.flow);
    expect(one?.flow).not.toBe(other?.flow);
    expect(one?.isStream).toBe(true);
  });

  it('accepts datagrams, and IPv6 with options before the ports', () => {
    const parts = { from: '10.1.0.2', fromPort: 5_353, to: '10.96.0.10', toPort: 53 };
    expect(summarize(datagram4(parts, 'hello'))).toMatchObject({
      isStream: false,
      target: targetOf(virtual('10.96.0.10', 'UDP', 53)),
    });
    const six = { from: 'fd00::2', fromPort: 40_000, to: 'fd00:96::10', toPort: 80 };
    for (const hasOptions of [false, true]) {
      expect(summarize(syn6(six, hasOptions))?.target).toBe(
        targetOf(virtual('fd00:96::10', 'TCP', 80)),
      );
    }
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['noise', Buffer.from('not a packet at all')],
    [
      'cut off',
      syn4({ from: '10.1.0.2', fromPort: 1, to: '10.96.0.10', toPort: 80 }).subarray(0, 30),
    ],
    ['a later fragment', fragment()],
    ['another protocol', echo()],
  ])('ignores %s', (_, packet) => {
    expect(summarize(packet)).toBeUndefined();
    const before = Buffer.from(packet);
    fillChecksums(packet);
    expect(packet).toEqual(before);
  });

  it('fills in the checksums that a network card would have computed', () => {
    const parts = { from: '10.1.0.2', fromPort: 40_000, to: '10.96.0.10', toPort: 80 };
    const packet = syn4(parts);
    fillChecksums(packet);
    // The sum over a packet with correct checksums is all ones.
    expect(onesSum(packet.subarray(0, 20), 0)).toBe(0xffff);
    const pseudo = onesSum(packet.subarray(12, 20), 6 + packet.length - 20);
    expect(onesSum(packet.subarray(20), pseudo)).toBe(0xffff);
    const odd = datagram4(parts, 'odd');
    odd.writeUInt16BE(1, 26);
    fillChecksums(odd);
    expect(onesSum(odd.subarray(20), onesSum(odd.subarray(12, 20), 17 + odd.length - 20))).toBe(
      0xffff,
    );
  });

  it('keeps a missing checksum where it is allowed', () => {
    const parts = { from: '10.1.0.2', fromPort: 40_000, to: '10.96.0.10', toPort: 80 };
    const packet = datagram4(parts, 'x');
    fillChecksums(packet);
    expect(packet.readUInt16BE(26)).toBe(0);
  });
});

function fragment(): Buffer {
  const packet = syn4({ from: '10.1.0.2', fromPort: 1, to: '10.96.0.10', toPort: 80 });
  packet.writeUInt16BE(10, 6);
  return packet;
}

function echo(): Buffer {
  const packet = syn4({ from: '10.1.0.2', fromPort: 1, to: '10.96.0.10', toPort: 80 });
  packet[9] = 1;
  return packet;
}

function onesSum(bytes: Buffer, start: number): number {
  let total = start;
  for (let at = 0; at < bytes.length; at += 2)
    total += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  while (total > 0xffff) total = (total & 0xffff) + (total >>> 16);
  return total;
}
