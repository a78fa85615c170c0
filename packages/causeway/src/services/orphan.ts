export type OrphanKind = 'load-balancer' | 'floating-ip' | 'port';

/** A cloud object with a mark of this cluster that no Service of this cluster uses. */
export interface Orphan {
  readonly kind: OrphanKind;
  /** The ID in OpenStack. */
  readonly id: string;
  readonly address?: string | undefined;
  /** `namespace/name` of the Service that the mark names. */
  readonly service?: string | undefined;
  /**
   * - `own`: the mark has the UID of this cluster;
   * - `old`: the mark has the `clusterId` only. Another cluster with the same `clusterId` may own the object.
   */
  readonly mark: 'own' | 'old';
}

/** The objects with a mark of this `clusterId` that a provider found in the cloud and does not delete. */
export interface OrphanReport {
  readonly orphans: readonly Orphan[];
  /** The UIDs of other clusters that mark objects with the same `clusterId`. */
  readonly otherClusters: readonly string[];
}

export const noOrphans: OrphanReport = { orphans: [], otherClusters: [] };

const kindNames: Readonly<Record<OrphanKind, readonly [string, string]>> = {
  'load-balancer': ['load balancer', 'load balancers'],
  'floating-ip': ['floating IP', 'floating IPs'],
  port: ['Neutron port', 'Neutron ports'],
};

export const orphanKinds = Object.keys(kindNames) as readonly OrphanKind[];

/** `2 load balancers and 1 floating IP`. */
export function countOrphans(orphans: readonly Pick<Orphan, 'kind'>[]): string {
  return orphanKinds
    .flatMap((kind) => {
      const count = orphans.filter((orphan) => orphan.kind === kind).length;
      return count === 0 ? [] : `${count} ${kindNames[kind][count === 1 ? 0 : 1]}`;
    })
    .join(' and ');
}
