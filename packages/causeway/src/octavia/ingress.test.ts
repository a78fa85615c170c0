import { expect, test } from 'vitest';
import { ingressOf } from './ingress.ts';
import type { KlbOptions } from './kuryr-load-balancer.ts';

const floating = { ip_id: 'f', ip_addr: '203.0.113.5', alloc_method: 'pool' } as const;
const vip = '10.10.0.5';
const outside = (options: KlbOptions = {}) => ({ type: 'LoadBalancer', options });

test.each([
  ['the floating IP', outside(), [], floating, [{ ip: '203.0.113.5', ipMode: 'VIP' }]],
  ['the VIP without a floating IP', outside(), [], undefined, [{ ip: vip, ipMode: 'VIP' }]],
  [
    'a second family',
    outside(),
    ['fd00::5'],
    floating,
    [
      { ip: '203.0.113.5', ipMode: 'VIP' },
      { ip: 'fd00::5', ipMode: 'VIP' },
    ],
  ],
  ['a name', outside({ hostname: 'web.example' }), [], floating, [{ hostname: 'web.example' }]],
  [
    'a proxy that pods must not bypass',
    outside({ proxy_protocol: 'PROXY' }),
    [],
    floating,
    [{ ip: '203.0.113.5', ipMode: 'Proxy' }],
  ],
  ['nothing for a ClusterIP Service', { type: 'ClusterIP' }, [], undefined, []],
] as const)('%s', (_, spec, others, publicIp, expected) => {
  expect(ingressOf(spec, vip, others, publicIp)).toEqual(expected);
});
