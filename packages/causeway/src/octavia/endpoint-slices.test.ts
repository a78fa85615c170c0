import { expect, test } from 'vitest';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { toKlbSlices } from './endpoint-slices.ts';

function slicesOf(count: number): EndpointSlice[] {
  const endpoint = (index: number) => ({
    addresses: [`10.10.${Math.floor(index / 250)}.${index % 250}`],
    conditions: { ready: index !== 1 },
    targetRef: {
      kind: 'Pod',
      namespace: 'shop',
      name: `web-7d9f8b6c5d-${String(index).padStart(5, '0')}`,
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    },
  });
  return Array.from({ length: Math.ceil(count / 100) }, (_, slice) => ({
    metadata: { name: `web-${String(slice).padStart(4, '0')}` },
    addressType: 'IPv4',
    endpoints: Array.from({ length: Math.min(100, count - slice * 100) }, (__, index) =>
      endpoint(slice * 100 + index),
    ),
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  }));
}

test('writes a few endpoints in full', () => {
  const [slice] = toKlbSlices(slicesOf(2));
  expect(slice?.endpoints?.[1]).toEqual({
    addresses: ['10.10.0.1'],
    conditions: { ready: false },
    targetRef: {
      kind: 'Pod',
      namespace: 'shop',
      name: 'web-7d9f8b6c5d-00001',
      uid: '00000000-0000-4000-8000-000000000001',
    },
  });
});

test('writes only the fields that members need for very many endpoints, so that they fit into an object', () => {
  const slices = toKlbSlices(slicesOf(10_000));
  expect(slices[0]?.endpoints?.slice(0, 2)).toEqual([
    { addresses: ['10.10.0.0'], targetRef: { name: 'web-7d9f8b6c5d-00000' } },
    {
      addresses: ['10.10.0.1'],
      conditions: { ready: false },
      targetRef: { name: 'web-7d9f8b6c5d-00001' },
    },
  ]);
  expect(JSON.stringify(slices).length).toBeLessThan(1_000_000);
});
