import { describe, expect, it } from 'vitest';
import { Fields } from '../fields.ts';
import { parseStatusTree } from './parsers.ts';
import { stuckChildren } from './stuck.ts';

const tree = (loadBalancer: string, child: string) =>
  parseStatusTree(
    new Fields(
      {
        loadbalancer: {
          id: 'lb',
          provisioning_status: loadBalancer,
          listeners: [
            {
              id: 'l',
              provisioning_status: 'ACTIVE',
              pools: [
                {
                  id: 'p',
                  provisioning_status: 'ACTIVE',
                  members: [
                    { id: 'm', address: '10.0.0.1', protocol_port: 80, provisioning_status: child },
                  ],
                  health_monitor: { id: 'h', provisioning_status: child },
                },
              ],
            },
          ],
          pools: [],
        },
      },
      'statuses',
    ),
  );

describe('stuckChildren', () => {
  it.each([
    ['ACTIVE', 'ACTIVE', []],
    ['PENDING_UPDATE', 'PENDING_CREATE', []],
    ['ACTIVE', 'PENDING_CREATE', ['m', 'h']],
    ['ACTIVE', 'ERROR', []],
  ])('a %s load balancer with a %s child', (loadBalancer, child, expected) => {
    expect(stuckChildren(tree(loadBalancer, child)).map(({ id }) => id)).toEqual(expected);
  });
});
