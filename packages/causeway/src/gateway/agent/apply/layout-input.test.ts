import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort, type Protocol } from '@causeway/base/address/port';
import { makeFrontend } from '../../protocol/frontend.ts';
import { toNodes, toVirtualService } from './layout-input.ts';

const [a, b, c] = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((text) => parseAddress(text)) as [
  ReturnType<typeof parseAddress>,
  ReturnType<typeof parseAddress>,
  ReturnType<typeof parseAddress>,
];

const frontend = (protocol: Protocol, weights: readonly number[]) =>
  makeFrontend({
    address: parseAddress('192.0.2.1'),
    protocol,
    port: parsePort(80),
    destinations: [a, b, c].flatMap((address, index) => {
      const weight = weights[index];
      return weight === undefined ? [] : [{ address, port: parsePort(8080), weight }];
    }),
  });

test.each<[string, Protocol, number[], string[], string[], string[]]>([
  ['all healthy', 'TCP', [1, 1, 1], [], [a, b, c], []],
  ['one that drains', 'TCP', [1, 1, 0], [], [a, b], [c]],
  ['one that drains', 'UDP', [1, 1, 0], [], [a, b], [c]],
  ['one that is unhealthy', 'TCP', [1, 1, 1], [b], [a, c], [b]],
  ['one that is unhealthy, whose flows move', 'UDP', [1, 1, 1], [b], [a, c], []],
  ['a draining and an unhealthy one', 'TCP', [1, 1, 0], [b], [a], [c, b]],
  ['all unhealthy', 'TCP', [1, 1], [a, b], [a, b], []],
  ['only a draining one besides unhealthy ones', 'TCP', [1, 0], [a], [a], [b]],
])('backends in slots and draining: %s (%s)', (_, protocol, weights, sick, slots, draining) => {
  const unhealthy = new Set(sick.map((text) => parseAddress(text)));
  const service = toVirtualService(frontend(protocol, weights), unhealthy);
  const { dispatch } = service;
  expect(dispatch.kind === 'slots' && dispatch.backends.map(({ address }) => address)).toEqual(
    slots,
  );
  expect((service.draining ?? []).map(({ address }) => address)).toEqual(draining);
});

test('unhealthy nodes keep their connections', () => {
  const all = [a, b, parseAddress('fd00::1')].map((address) => ({ address }));
  expect(toNodes(all, new Set([b]))).toEqual({ nodes: [a, 'fd00::1'], drainingNodes: [b] });
});
