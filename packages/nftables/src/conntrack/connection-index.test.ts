import { describe, expect, test } from 'vitest';
import { addressBytes, parseAddress as address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { ConnectionIndex } from './connection-index.ts';
import type { Tracked } from './tracked-connection.ts';

type End = readonly [address: string, port: number];
const bytes = (text: string) => Buffer.from(addressBytes(address(text))).toString('latin1');

/** An entry of conntrack: from, to, and the ends of the answers. */
function tracked(
  from: End,
  to: End,
  answerFrom: End,
  answerTo: End,
  id = 1,
  protocol = 6,
): Tracked {
  const tuple = (source: End, destination: End) => ({
    source: bytes(source[0]),
    destination: bytes(destination[0]),
    sourcePort: source[1],
    destinationPort: destination[1],
    protocol,
  });
  return {
    original: tuple(from, to),
    reply: tuple(answerFrom, answerTo),
    rawOriginal: Buffer.alloc(0),
    rawId: Buffer.of(id),
    family: 4,
    isAnswered: true,
  };
}

const client: End = ['198.51.100.7', 40_000];
const virtual: End = ['192.0.2.1', 80];
const backend: End = ['10.0.0.1', 8080];
const gateway: End = ['10.0.0.254', 50_000];
const place = { address: address(virtual[0]), port: port(virtual[1]) };
const pin = {
  client: address(client[0]),
  clientPort: port(client[1]),
  ...place,
  backend: address(backend[0]),
  backendPort: port(backend[1]),
};

function watching(): ConnectionIndex {
  const index = new ConnectionIndex();
  index.watchAddresses([place.address]);
  return index;
}

const pinsOf = (index: ConnectionIndex) =>
  Array.from(index.connectionsOf(place), (connection) => connection.toPin());

describe('a connection', () => {
  test.each([
    ['that its client opened', tracked(client, virtual, backend, client)],
    ['that was picked up from the server', tracked(backend, client, client, virtual)],
  ])('%s is found by its frontend', (_, entry) => {
    const index = watching();
    index.add(entry);
    expect(pinsOf(index)).toEqual([pin]);
    expect(index.has(pin)).toBe(true);
    expect(index.has({ ...pin, backendPort: port(8081) })).toBe(false);
    expect(index.remove(entry)?.toPin()).toEqual(pin);
    expect([index.size, [...index.frontends()].length]).toEqual([0, 0]);
  });

  test.each([
    ['with a rewritten source', tracked(client, virtual, backend, gateway)],
    ['that is not rewritten', tracked(client, virtual, virtual, client)],
    ['to another address', tracked(client, ['192.0.2.9', 80], backend, client)],
    ['of another protocol', tracked(client, virtual, backend, client, 1, 17)],
  ])('%s is left out', (_, entry) => {
    const index = watching();
    expect(index.add(entry)).toBeUndefined();
    expect(index.size).toBe(0);
  });

  test('stays if an earlier one with the same ports ends', () => {
    const index = watching();
    index.add(tracked(client, virtual, backend, client, 1));
    index.add(tracked(client, virtual, backend, client, 2));
    expect(index.remove(tracked(client, virtual, backend, client, 1))).toBeUndefined();
    expect(index.size).toBe(1);
  });
});
