import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Grant } from './credential.ts';
import type { Write } from './ledger.ts';
import type { AuditRecord, ClusterRecord } from './records.ts';
import type { Kept, SiteView } from './site-view.ts';
import type { View } from './view.ts';

/** What a decision may know beside the view. */
export interface Moment {
  readonly now: number;
  /** Addresses, as keys, that this replica is about to hand out in transactions under way. */
  readonly busy: ReadonlySet<string>;
}

/**
 * What a decision comes to. A change lists the keys it depended on: the transaction is refused if one
 * of them was written since. The other outcomes write nothing and hold for the view they were made on.
 */
export type Decision<T> =
  | { readonly kind: 'answer'; readonly answer: T }
  | { readonly kind: 'refuse'; readonly error: CausewayError }
  /** It depends on how transactions under way in this replica end. */
  | { readonly kind: 'busy' }
  | Changes<T>;

export interface Changes<T> {
  readonly kind: 'change';
  readonly reads: readonly string[];
  readonly writes: readonly Write[];
  /** Undefined for what is no news, and whose answer is the same if it is decided again. */
  readonly audit: AuditNote | undefined;
  readonly answer: T;
}

/** The part of an audit record that the decision knows; who and when are added. */
export type AuditNote = Omit<AuditRecord, 'at' | 'actor'> & { readonly action: string };

/** The grant says who asks, for decisions where that matters. */
export type Decide<T> = (view: View, moment: Moment, grant: Grant) => Decision<T>;

export function refuse(error: CausewayError): { kind: 'refuse'; error: CausewayError } {
  return { kind: 'refuse', error };
}

/** Refusals thrown while deciding are decisions; anything else is a defect and stays thrown. */
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

/** The cluster's record for a change of what it holds: the next sequence. */
export function nextSequence(cluster: Kept<ClusterRecord>): ClusterRecord {
  return { ...cluster.record, sequence: cluster.record.sequence + 1 };
}
