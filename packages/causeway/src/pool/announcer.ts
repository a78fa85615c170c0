import type { Address } from '@causeway/base/address/address';
import { familyOf } from '@causeway/base/address/address';
import { poolAnnouncers } from '../ipam/records.ts';
import type { StringMap } from '@causeway/kubernetes/objects/object';

export const announcerNames = [...poolAnnouncers, 'node'] as const;
export type AnnouncerName = (typeof announcerNames)[number];

/** The data that an announcer needs for a Service. */
export interface Announcement {
  readonly addresses: readonly Address[];
  readonly sharingKey?: string | undefined;
  /** `spec.loadBalancerIP`, which some announcers read as well. */
  readonly loadBalancerIP?: string | undefined;
}

/** How one announcer gets the address of a Service. */
export interface Announcer {
  readonly name: AnnouncerName;
  /** The name as its own project writes it. */
  readonly title: string;
  /** Which component writes the Service's status. */
  readonly statusWriter: 'announcer' | 'controller';
  /**
   * When it stops announcing: when the Service is no longer of type LoadBalancer, or only when a Service of
   * that type is deleted. The second kind ignores every other change, so it can't be stopped temporarily.
   */
  readonly stopsWhen: 'not-balanced' | 'deleted';
  /**
   * After a change of the address, it withdraws the former address. It announces the next address only after
   * one more change of the Service.
   */
  readonly missesChanges?: true;
  /** The classes that it serves beside Services without a class. */
  readonly ownClasses: readonly string[];
  /**
   * Every annotation that the controller may set for it. All are removed when the Service is no longer
   * announced.
   */
  readonly annotations: readonly string[];
  /** The annotations to set. Never throws: `refuse` covers unsupported announcements. */
  annotationsFor(announcement: Announcement): StringMap;
  /** Why it can't announce this; undefined if it can. */
  refuse?(announcement: Announcement): string | undefined;
}

/** `v4,v6` without spaces: not all announcers trim. */
function listed(addresses: readonly Address[]): string {
  return [...addresses].sort((left, right) => familyOf(left) - familyOf(right)).join(',');
}

function byAnnotation(
  name: AnnouncerName,
  title: string,
  ownClasses: readonly string[],
  addresses: string,
  sharing?: string,
): Announcer {
  return {
    name,
    title,
    statusWriter: 'announcer',
    stopsWhen: 'not-balanced',
    ownClasses,
    annotations: sharing === undefined ? [addresses] : [addresses, sharing],
    annotationsFor: (announcement) => ({
      [addresses]: listed(announcement.addresses),
      ...(sharing === undefined || announcement.sharingKey === undefined
        ? {}
        : { [sharing]: announcement.sharingKey }),
    }),
  };
}

const metallb = byAnnotation(
  'metallb',
  'MetalLB',
  [],
  'metallb.io/loadBalancerIPs',
  'metallb.io/allow-shared-ip',
);

function statusOnly(name: 'node' | 'plain', title: string): Announcer {
  return {
    name,
    title,
    statusWriter: 'controller',
    stopsWhen: 'not-balanced',
    ownClasses: [],
    annotations: [],
    annotationsFor: () => ({}),
  };
}

export const announcers: Readonly<Record<AnnouncerName, Announcer>> = {
  'kube-vip': {
    ...byAnnotation(
      'kube-vip',
      'kube-vip',
      ['kube-vip.io/kube-vip-class'],
      'kube-vip.io/loadbalancerIPs',
    ),
    stopsWhen: 'deleted',
    missesChanges: true,
  },
  metallb: {
    ...metallb,
    // MetalLB takes the field or the annotation, never both.
    annotationsFor: (announcement) => {
      const { ['metallb.io/loadBalancerIPs']: addresses = '', ...rest } =
        metallb.annotationsFor(announcement);
      const { loadBalancerIP = '' } = announcement;
      return loadBalancerIP === '' ? { 'metallb.io/loadBalancerIPs': addresses, ...rest } : rest;
    },
    refuse: ({ addresses, loadBalancerIP = '' }) =>
      loadBalancerIP === '' || listed(addresses) === loadBalancerIP
        ? undefined
        : `MetalLB uses only spec.loadBalancerIP (${loadBalancerIP}), but the ledger assigned ${listed(addresses)}. ` +
          'Remove spec.loadBalancerIP and request the address with the annotation causeway.dev/address.',
  },
  cilium: byAnnotation(
    'cilium',
    'Cilium',
    ['io.cilium/l2-announcer', 'io.cilium/bgp-control-plane'],
    'lbipam.cilium.io/ips',
    'lbipam.cilium.io/sharing-key',
  ),
  purelb: byAnnotation(
    'purelb',
    'PureLB',
    ['purelb.io/purelb'],
    'purelb.io/addresses',
    'purelb.io/allow-shared-ip',
  ),
  node: statusOnly('node', 'the node’s own address'),
  plain: statusOnly('plain', 'the status alone'),
};

export function isAnnouncerName(text: string): text is AnnouncerName {
  return Object.hasOwn(announcers, text);
}

/** Clears all annotations of an announcer. */
export function clearedAnnotations(name: AnnouncerName): Record<string, null> {
  const nothing: Record<string, null> = {};
  for (const annotation of announcers[name].annotations) nothing[annotation] = null;
  return nothing;
}

/** The announcer with this load balancer class. */
export function announcerOfClass(className: string | undefined): AnnouncerName | undefined {
  if (className === undefined) return undefined;
  return announcerNames.find((name) => announcers[name].ownClasses.includes(className));
}
