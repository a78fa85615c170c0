import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Grant } from './credential.ts';
import type { Write } from './ledger.ts';
import type { AuditRecord, ClusterRecord } from './records.ts';
import type { Kept, SiteView } from './site-view.ts';
import type { View } from './view.ts';

/** Input of a decision beside the view. */
export interface Moment {
  readonly now: number;
  /** Addresses, as keys, that running transactions of this replica are about to assign. */
  readonly busy: ReadonlySet<string>;
}

/**
 * Outcome of a decision. A change lists the keys that it depends on: the ledger refuses the transaction if
 * one of them was written since. The other outcomes write nothing and apply to the view they were made on.
 */
export type Decision<T> =
  | { readonly kind: 'answer'; readonly answer: T }
  | { readonly kind: 'refuse'; readonly error: CausewayError }
  /** The outcome depends on running transactions of this replica. */
  | { readonly kind: 'busy' }
  | Changes<T>;

export interface Changes<T> {
  readonly kind: 'change';
  readonly reads: readonly string[];
  readonly writes: readonly Write[];
  /** Undefined for changes that need no audit record and give the same answer if decided again. */
  readonly audit: AuditNote | undefined;
  readonly answer: T;
}

/** The decision's part of an audit record; actor and time are added. */
export type AuditNote = Omit<AuditRecord, 'at' | 'actor'> & { readonly action: string };

/** The grant names the caller, for decisions that depend on it. */
export type Decide<T> = (view: View, moment: Moment, grant: Grant) => Decision<T>;

export function refuse(error: CausewayError): { kind: 'refuse'; error: CausewayError } {
  return { kind: 'refuse', error };
}

/** Refusals thrown while deciding are decisions; any other error is a defect and is rethrown. */
export function deciding<T>(decide: () => Decision<T>): Decision<T> {
  try {
    return decide();
  } catch (error) {
    if (error instanceof CausewayError && error.code !== 'internal') return refuse(error);
    throw error;
  }
}

export function put(key: string, record: object): Write {
  return { key, value: JSON.stringify(record) };
}

export function remove(key: string): Write {
  return { key, value: undefined };
}

export interface KnownSite {
  readonly view: SiteView;
  readonly key: string;
  readonly record: NonNullable<SiteView['site']>['record'];
}

export function findSite(view: View, name: string): KnownSite {
  const site = view.site(name);
  if (site?.site === undefined) {
    throw new CausewayError('not-found', `there is no site ${name}`, {
      hint: 'An operator creates it with "causeway ipam sites set".',
    });
  }
  return { view: site, key: site.site.key, record: site.site.record };
}

export function findCluster(site: SiteView, name: string): Kept<ClusterRecord> {
  const cluster = site.clusters.get(name);
  if (cluster === undefined) {
    throw new CausewayError('not-found', `site ${site.name} has no cluster ${name}`, {
      hint: 'An operator creates it with "causeway ipam clusters create".',
    });
  }
  return cluster;
}

/** The cluster's record after a change of its addresses: with the next sequence. */
export function nextSequence(cluster: Kept<ClusterRecord>): ClusterRecord {
  return { ...cluster.record, sequence: cluster.record.sequence + 1 };
}
