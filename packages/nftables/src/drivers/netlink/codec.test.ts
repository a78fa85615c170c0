import { describe, expect, test } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { diff } from '../../plan/diff.ts';
import type { Element, SetDefinition } from '../../model/ruleset.ts';
import type { Operation } from '../../model/transaction.ts';
import { decodeElements, decodeSet, entryOffsets } from './decode.ts';
import { BatchEncoder } from './encode-operation.ts';
import { foreignChanges } from './foreign-events.ts';
import { kernelErrors, transactionError } from './kernel-error.ts';
import { readMessages, type Message } from '@causeway/netlink/reader';
import { MessageWriter } from '@causeway/netlink/writer';

function encode(...operations: Operation[]): {
  batch: BatchEncoder;
  bytes: Buffer;
  list: Message[];
} {
  const writer = new MessageWriter(16);
  const batch = new BatchEncoder(writer, 'table', 0, 10);
  for (const operation of operations) batch.encode(operation);
  const bytes = writer.bytes();
  return { batch, bytes, list: [...readMessages(bytes)] };
}

const definitions: readonly SetDefinition[] = [
  {
    name: 'a',
    key: ['ipv4_addr', 'inet_proto', 'inet_service', 'slot'],
    value: ['ipv4_addr', 'inet_service'],
  },
  { name: 'b', key: ['ipv6_addr', 'inet_proto', 'inet_service'], value: 'verdict' },
  { name: 'c', key: ['inet_service'], interval: true },
  { name: 'd', key: ['ipv6_addr'], dynamic: true },
  { name: 'e', key: ['inet_proto'], counter: true },
];

describe('the codec', () => {
  test.each(definitions)('reads a set definition back: $name', (definition) => {
    const { list } = encode({ op: 'add-set', definition });
    expect(list[0] === undefined ? undefined : decodeSet(list[0])).toEqual(definition);
  });

  const samples: readonly [SetDefinition | undefined, Element[]][] = [
    [
      definitions[0],
      [
        { key: [address('192.0.2.1'), 6, 80, 3], value: [address('10.0.0.1'), 8080] },
        { key: [address('192.0.2.1'), 132, 65_535, 131_071], value: [address('10.0.0.2'), 1] },
      ],
    ],
    [
      definitions[1],
      [
        { key: [address('2001:db8::1'), 17, 53], value: { kind: 'goto', chain: 'c' } },
        { key: [address('2001:db8::1'), 17, 54], value: { kind: 'drop' } },
        { key: [address('2001:db8::1'), 17, 55], value: { kind: 'return' } },
      ],
    ],
    [
      definitions[2],
      [
        { key: [80], keyEnd: [90] },
        { key: [443], keyEnd: [443] },
        { key: [60_000], keyEnd: [65_535] },
      ],
    ],
  ];

  test.each(samples)('reads elements back', (set, elements) => {
    if (set === undefined) return;
    const { list } = encode({ op: 'add-elements', set, elements });
    expect([...decodeElements(set, list).values()]).toEqual(elements);
  });

  test('splits long lists into messages of a length that the kernel can express', () => {
    const set: SetDefinition = { name: 's', key: ['slot'] };
    const elements = Array.from({ length: 20_000 }, (_, index) => ({ key: [index] }));
    const { list } = encode({ op: 'add-elements', set, elements });
    expect(list.length).toBeGreaterThan(5);
    for (const { payload } of list) expect(payload.length).toBeLessThan(60_000);
    expect(decodeElements(set, list).size).toBe(20_000);
  });
});

test("the kernel's offset identifies the faulty element, also among ranges", () => {
  const set: SetDefinition = { name: 's', key: ['inet_service'], interval: true };
  const elements: Element[] = [
    { key: [1], keyEnd: [5] },
    { key: [10], keyEnd: [20] },
    { key: [30], keyEnd: [40] },
  ];
  const { batch, bytes } = encode({ op: 'add-elements', set, elements });
  const offsets = entryOffsets(bytes);
  expect(offsets).toHaveLength(6);
  for (const [entry, expected] of [0, 0, 1, 1, 2, 2].entries()) {
    const offset = offsets[entry];
    const found = transactionError({ sequence: 10, errno: 17, offset }, batch);
    expect(found).toMatchObject({ code: 'conflict', element: elements[expected] });
  }
});

test('parses errors with their offsets, and success as no error', () => {
  const answer = (errno: number) => {
    const bytes = Buffer.alloc(44);
    bytes.writeUInt32LE(44, 0);
    bytes.writeUInt16LE(2, 4);
    bytes.writeUInt16LE(0x300, 6);
    bytes.writeUInt32LE(12, 8);
    bytes.writeInt32LE(-errno, 16);
    bytes.writeUInt16LE(8, 36);
    bytes.writeUInt16LE(2, 38);
    bytes.writeUInt32LE(77, 40);
    return bytes;
  };
  expect(kernelErrors(answer(17))).toEqual([{ sequence: 12, errno: 17, offset: 77 }]);
  expect(kernelErrors(answer(0))).toEqual([]);
});

test('notifications about our table by others are foreign changes', () => {
  const { bytes } = encode({ op: 'remove-chain', chain: 'c' });
  const changes = (table: string, ours: boolean) => [...foreignChanges(bytes, table, () => ours)];
  expect(changes('table', false)).toEqual([{ table: 'table', what: 'a chain was removed' }]);
  expect(changes('table', true)).toEqual([]);
  expect(changes('other', false)).toEqual([]);
});

test('a diff with nothing present creates the table', () => {
  const { operations } = diff(undefined, { table: 't', chains: new Map(), sets: new Map() });
  expect(operations).toEqual([{ op: 'add-table' }]);
});
