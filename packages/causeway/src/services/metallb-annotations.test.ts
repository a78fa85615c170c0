import { describe, expect, test } from 'vitest';
import type { ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import { frontendFromService } from './frontend-from-service.ts';
import { differingSharingKeys, readLoadBalancerSpec } from './load-balancer-spec.ts';

const newer = 'metallb.io/loadBalancerIPs';
const older = 'metallb.universe.tf/loadBalancerIPs';
const own = 'causeway.dev/address';
const both = { ipFamilies: ['IPv4', 'IPv6'] } as const;

const spec = (annotations: Record<string, string>, fields: ServiceSpec = {}) =>
  frontendFromService({
    metadata: { namespace: 'shop', name: 'web', annotations },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...fields },
  });

/** The cases of MetalLB's controller with this annotation, with the result of Causeway. */
describe('addresses that a Service requests with MetalLB’s annotations', () => {
  test.each<[string, Record<string, string>, ServiceSpec, string[] | string]>([
    ['one address', { [newer]: '1.2.3.1' }, {}, ['1.2.3.1']],
    ['the older prefix', { [older]: '1.2.3.1' }, {}, ['1.2.3.1']],
    ['both prefixes', { [newer]: '1.2.3.1', [older]: '1.2.3.2' }, {}, ['1.2.3.1']],
    ['an empty newer one hides the older', { [newer]: '', [older]: '1.2.3.2' }, {}, []],
    ['spaces', { [newer]: ' 1.2.3.1 , 1000:: ' }, both, ['1.2.3.1', '1000::']],
    ['another field', { [newer]: '1.2.3.1' }, { loadBalancerIP: '1.2.3.2' }, 'AddressesDiffer'],
    // MetalLB rejects this, too.
    ['the same field', { [newer]: '1.2.3.1' }, { loadBalancerIP: '1.2.3.1' }, ['1.2.3.1']],
    ['no address', { [newer]: 'please sir' }, {}, 'InvalidAddress'],
    ['two of one family', { [newer]: '1.2.3.1,1.2.3.2' }, {}, 'InvalidAddress'],
    ['IPv4 for IPv6', { [newer]: '1.2.3.1' }, { ipFamilies: ['IPv6'] }, 'AddressOfOtherFamily'],
    ['IPv6 for IPv4', { [newer]: '1000::' }, {}, 'AddressOfOtherFamily'],
    ['two families for one', { [newer]: '1.2.3.0,1000::' }, {}, 'AddressOfOtherFamily'],
    ['two families', { [newer]: '1.2.3.0,1000::' }, both, ['1.2.3.0', '1000::']],
    // MetalLB rejects this. Causeway chooses the other address.
    ['one of two families', { [newer]: '1.2.3.1' }, both, ['1.2.3.1']],
    ['Causeway’s, equal', { [newer]: '1.2.3.1', [own]: '1.2.3.1' }, {}, ['1.2.3.1']],
    ['Causeway’s, other', { [newer]: '1.2.3.1', [own]: '1.2.3.2' }, {}, 'AddressesDiffer'],
  ])('%s', (_what, annotations, fields, expected) => {
    const reading = readLoadBalancerSpec(spec(annotations, fields), [4, 6], 'own-and-metallb');
    const result =
      reading.kind === 'refused' ? reading.reason : [...reading.needs.requested.values()];
    expect(result).toEqual(expected);
  });

  test('are not read for the pool, whose announcer writes them', () => {
    const annotations = { [newer]: '1.2.3.1', [own]: '1.2.3.2' };
    expect(readLoadBalancerSpec(spec(annotations), [4])).toMatchObject({
      needs: { requested: new Map([[4, '1.2.3.2']]) },
    });
  });
});

describe('sharing keys of MetalLB', () => {
  const key = 'metallb.io/allow-shared-ip';
  const oldKey = 'metallb.universe.tf/allow-shared-ip';
  const ownKey = 'causeway.dev/sharing-key';

  test.each<[Record<string, string>, string, boolean]>([
    [{}, 'namespace:shop', false],
    [{ [key]: 'edge' }, 'key:edge', false],
    [{ [oldKey]: 'edge' }, 'key:edge', false],
    [{ [key]: 'edge', [oldKey]: 'old' }, 'key:edge', false],
    [{ [key]: '' }, 'namespace:shop', false],
    [{ [key]: 'edge', [ownKey]: 'edge' }, 'key:edge', false],
    [{ [key]: 'edge', [ownKey]: 'own' }, 'key:own', true],
    [{ [key]: 'edge', [ownKey]: '' }, 'namespace:shop', true],
  ])('%j: %s', (annotations, sharingGroup, differs) => {
    const frontend = spec(annotations);
    expect(readLoadBalancerSpec(frontend, [4])).toMatchObject({ needs: { sharingGroup } });
    expect(differingSharingKeys(frontend) !== undefined).toBe(differs);
  });
});
