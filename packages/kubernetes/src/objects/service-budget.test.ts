import { expect, test } from 'vitest';
import { textLimits } from '@causeway/base/text/text-limit';
import type { Service } from './core-objects.ts';
import { largeService } from './large-service.testing.ts';
import type { EndpointSlice } from './network-objects.ts';
import { budgetedService, budgetExcess, serviceBudget } from './service-budget.ts';

const { ports, sourceRanges, portsTimesRanges, externalIps } = serviceBudget;

const slice = (portCount: number, endpointCount: number): EndpointSlice => ({
  addressType: 'IPv4',
  ports: Array.from({ length: portCount }, (_, index) => ({ name: `p${index}`, port: 8080 })),
  endpoints: Array.from({ length: endpointCount }, () => ({ addresses: ['10.0.0.1'] })),
});

const annotated = (name: string, length: number): Service => ({
  metadata: { annotations: { [name]: 'x'.repeat(length) } },
});

test.each<[string, Service, readonly EndpointSlice[]]>([
  ['ports', largeService(ports, 0), []],
  ['source ranges', largeService(10, sourceRanges), []],
  ['pairs of both', largeService(ports, portsTimesRanges / ports), []],
  ['endpoints', largeService(10, 0), [slice(10, 2000)]],
  ['a value', annotated('causeway.dev/sharing-key', textLimits.value), []],
  ['a record', annotated('causeway.dev/gateway-ports', textLimits.record), []],
  [
    'a long annotation of another program',
    annotated('kubectl.kubernetes.io/last-applied-configuration', 200_000),
    [],
  ],
])('a Service as large as the budget allows fits: %s', (_, service, slices) => {
  expect(budgetExcess(budgetedService(service), slices)).toBeUndefined();
});

test.each<[string, Service, readonly EndpointSlice[], string]>([
  ['ports', largeService(ports + 1, 0), [], '1001 ports; the limit is 1000'],
  ['source ranges', largeService(1, sourceRanges + 1), [], '2001 source ranges'],
  ['pairs of both', largeService(1000, 2000), [], '2000000 pairs of a port and a source range'],
  [
    'external IPs',
    largeService(1, 0, { externalIPs: Array<string>(externalIps + 1).fill('192.0.2.1') }),
    [],
    '101 external IPs',
  ],
  [
    'pairs of a port and an address',
    largeService(200, 0, { externalIPs: Array<string>(externalIps).fill('192.0.2.1') }),
    [],
    '20200 pairs of a port and an address (200 × 101)',
  ],
  [
    'endpoints',
    largeService(10, 0),
    [slice(10, 1000), slice(10, 1001)],
    'more than 20000 endpoints',
  ],
  [
    'a value',
    annotated('causeway.dev/idle-after', 200_000),
    [],
    'causeway.dev/idle-after has 200000 characters; Causeway reads up to 1024',
  ],
  ['a record', annotated('causeway.dev/pool-holding', 200_000), [], 'reads up to 131072'],
  [
    'a source range',
    largeService(1, 0, { loadBalancerSourceRanges: [`${' '.repeat(90_000)}10.0.0.0/8`] }),
    [],
    'is longer than 64 characters',
  ],
  ['an address', { spec: { loadBalancerIP: '1'.repeat(90_000) } }, [], 'has 90000 characters'],
])('a larger one is rejected, with a remedy: %s', (_, service, slices, expected) => {
  const excess = budgetExcess(budgetedService(service), slices);
  expect(excess?.reason).toBe('OverBudget');
  expect(excess?.message).toContain(expected);
  expect(excess?.message).toMatch(/\b(?:Split|Join|Shorten|Write)\b/);
  expect(excess?.message.length).toBeLessThan(400);
});
