import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import {
  announcerNames,
  announcerOfClass,
  announcers,
  clearedAnnotations,
  type AnnouncerName,
} from './announcer.ts';

const v4 = parseAddress('192.0.2.7');
const v6 = parseAddress('2001:db8::7');

interface Row {
  readonly announcer: AnnouncerName;
  readonly single: object;
  readonly dual: object;
  readonly shared: object;
  readonly writer: 'announcer' | 'controller';
}

/** The annotations that each announcer reads. */
const table: readonly Row[] = [
  {
    announcer: 'kube-vip',
    single: { 'kube-vip.io/loadbalancerIPs': '192.0.2.7' },
    dual: { 'kube-vip.io/loadbalancerIPs': '192.0.2.7,2001:db8::7' },
    shared: { 'kube-vip.io/loadbalancerIPs': '192.0.2.7' },
    writer: 'announcer',
  },
  {
    announcer: 'metallb',
    single: { 'metallb.io/loadBalancerIPs': '192.0.2.7' },
    dual: { 'metallb.io/loadBalancerIPs': '192.0.2.7,2001:db8::7' },
    shared: { 'metallb.io/loadBalancerIPs': '192.0.2.7', 'metallb.io/allow-shared-ip': 'web' },
    writer: 'announcer',
  },
  {
    announcer: 'cilium',
    single: { 'lbipam.cilium.io/ips': '192.0.2.7' },
    dual: { 'lbipam.cilium.io/ips': '192.0.2.7,2001:db8::7' },
    shared: { 'lbipam.cilium.io/ips': '192.0.2.7', 'lbipam.cilium.io/sharing-key': 'web' },
    writer: 'announcer',
  },
  {
    announcer: 'purelb',
    single: { 'purelb.io/addresses': '192.0.2.7' },
    dual: { 'purelb.io/addresses': '192.0.2.7,2001:db8::7' },
    shared: { 'purelb.io/addresses': '192.0.2.7', 'purelb.io/allow-shared-ip': 'web' },
    writer: 'announcer',
  },
  { announcer: 'node', single: {}, dual: {}, shared: {}, writer: 'controller' },
  { announcer: 'plain', single: {}, dual: {}, shared: {}, writer: 'controller' },
];

describe.each(table)('$announcer', ({ announcer: name, single, dual, shared, writer }) => {
  const announcer = announcers[name];

  test('gets one address, two in the order of their families, and the sharing key', () => {
    expect(announcer.annotationsFor({ addresses: [v4] })).toEqual(single);
    expect(announcer.annotationsFor({ addresses: [v6, v4] })).toEqual(dual);
    expect(announcer.annotationsFor({ addresses: [v4], sharingKey: 'web' })).toEqual(shared);
  });

  test('has all its annotations cleared afterwards', () => {
    const nothing = clearedAnnotations(name);
    for (const key of Object.keys({ ...single, ...dual, ...shared })) {
      expect(nothing).toHaveProperty([key], null);
    }
  });

  test('has the right status writer and its own classes', () => {
    expect(announcer.statusWriter).toBe(writer);
    for (const className of announcer.ownClasses) expect(announcerOfClass(className)).toBe(name);
  });
});

test('the table has every announcer', () => {
  expect(table.map(({ announcer }) => announcer).toSorted()).toEqual(announcerNames.toSorted());
  expect(announcerOfClass('causeway.dev/pool')).toBeUndefined();
  expect(announcerOfClass(undefined)).toBeUndefined();
});

test('MetalLB, which accepts the field or the annotation, does not get both', () => {
  const field = { addresses: [v4], loadBalancerIP: '192.0.2.7' };
  expect(announcers.metallb.annotationsFor(field)).toEqual({});
  expect(announcers.metallb.refuse?.(field)).toBeUndefined();
  const differs = { addresses: [v4, v6], loadBalancerIP: '192.0.2.7' };
  expect(announcers.metallb.refuse?.(differs)).toContain('Remove spec.loadBalancerIP');
});
