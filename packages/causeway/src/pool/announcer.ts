import type { Address } from '@causeway/base/address/address';
import { familyOf } from '@causeway/base/address/address';
import { poolAnnouncers } from '../ipam/records.ts';
import type { StringMap } from '@causeway/kubernetes/objects/object';

export const announcerNames = [...poolAnnouncers, 'node'] as const;
export type AnnouncerName = (typeof announcerNames)[number];

/** What an announcer needs to know of a Service. */
export interface Announcement {
  readonly addresses: readonly Address[];
  readonly sharingKey?: string | undefined;
  /** `spec.loadBalancerIP`, which some read as well. */
  readonly loadBalancerIP?: string | undefined;
}

/** How one announcer is told which address a Service has. */
export interface Announcer {
  readonly name: AnnouncerName;
  /** As its own project writes it. */
  readonly title: string;
  /** Who writes the Service's status: the announcer, or we. */
  readonly statusWriter: 'announcer' | 'controller';
  /**
   * What makes it stop: that the Service is no load balancer any more, or only that it is deleted as
   * one. Such a one ignores every other change, so that nobody can make it stop for a while.
   */
  readonly stopsWhen: 'not-balanced' | 'deleted';
  /**
   * Told another address, it leaves the one before and takes up the next only with the change of the
   * Service that comes after.
   */
  readonly missesChanges?: true;
  /** The class that it serves beside Services without one. */
  readonly ownClasses: readonly string[];
  /** Every annotation that we may set for it: all are removed when the Service is no longer announced. */
  readonly annotations: readonly string[];
  /** The annotations to set. Throws nothing: what can't be told is in `refuse`. */
  annotationsFor(announcement: Announcement): StringMap;
  /** Why it can't announce this, if it can't. */
  refuse?(announcement: Announcement): string | undefined;
}

/** `v4,v6` without spaces: not all of them trim. */
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
        : `MetalLB obeys spec.loadBalancerIP (${loadBalancerIP}) alone, but it is to announce ${listed(addresses)}. ` +
          'Remove spec.loadBalancerIP and ask with the annotation causeway.dev/address.',
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

/** Takes back what an announcer was told. */
export function clearedAnnotations(name: AnnouncerName): Record<string, null> {
  const nothing: Record<string, null> = {};
  for (const annotation of announcers[name].annotations) nothing[annotation] = null;
  return nothing;
}

/** The announcer whose own class this is. */
export function announcerOfClass(className: string | undefined): AnnouncerName | undefined {
  if (className === undefined) return undefined;
  return announcerNames.find((name) => announcers[name].ownClasses.includes(className));
}
