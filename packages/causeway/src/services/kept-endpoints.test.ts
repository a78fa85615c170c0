import { expect, test } from 'vitest';
import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keepEndpoints } from './kept-endpoints.ts';

const endpoint = (
  address: string,
  conditions: NonNullable<Endpoint['conditions']>,
  nodeName = 'n1',
) => ({ addresses: [address], conditions, nodeName }) satisfies Endpoint;
const slices = (...endpoints: Endpoint[]): EndpointSlice[] => [
  { addressType: 'IPv4', endpoints, ports: [] },
];
const onLostNode = ({ nodeName }: Endpoint) => nodeName === 'n1';
const readyOf = (all: readonly EndpointSlice[]) =>
  all
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready === true)
    .map(({ addresses }) => addresses[0]);
const lost = { ready: false, serving: false, terminating: false };

test.each([
  [
    'those of a Service without a ready endpoint',
    [endpoint('10.0.0.1', lost), endpoint('10.0.0.2', lost)],
    ['10.0.0.1', '10.0.0.2'],
  ],
  [
    'none if another endpoint is ready',
    [endpoint('10.0.0.1', lost), endpoint('10.0.0.2', { ready: true }, 'n2')],
    ['10.0.0.2'],
  ],
  ['none on a node that reports', [endpoint('10.0.0.1', lost, 'n2')], []],
  ['none that terminates', [endpoint('10.0.0.1', { ...lost, terminating: true })], []],
])('keeps endpoints of lost nodes: %s', (_name, endpoints, ready) => {
  expect(readyOf(keepEndpoints(slices(...endpoints), onLostNode))).toEqual(ready);
});
