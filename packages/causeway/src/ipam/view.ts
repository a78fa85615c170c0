import type { z } from 'zod';
import { parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { partsOfKey } from './keys.ts';
import type { Batch, Change, Entry } from './ledger.ts';
import {
  addressRecordSchema,
  beatRecordSchema,
  clusterRecordSchema,
  credentialRecordSchema,
  queueRecordSchema,
  siteRecordSchema,
  tombstoneRecordSchema,
  waiterRecordSchema,
  type CredentialRecord,
} from './records.ts';
import { SiteView, type Kept } from './site-view.ts';

/** The ledger's state as of one revision, in memory. Decisions read it; only batches change it. */
export class View {
  #revision = 0;
  readonly #sites = new Map<string, SiteView>();
  readonly #credentials = new Map<string, Kept<CredentialRecord>>();
  readonly #revisions = new Map<string, number>();

  get revision(): number {
    return this.#revision;
  }

  /** The revision of a key's last write; 0 when the key doesn't exist. */
  revisionOf(key: string): number {
    return this.#revisions.get(key) ?? 0;
  }

  site(name: string): SiteView | undefined {
    const site = this.#sites.get(name);
    return site?.site === undefined ? undefined : site;
  }

  get sites(): SiteView[] {
    return [...this.#sites.values()].filter(({ site }) => site !== undefined);
  }

  credential(id: string): Kept<CredentialRecord> | undefined {
    return this.#credentials.get(id);
  }

  get credentials(): IterableIterator<Kept<CredentialRecord>> {
    return this.#credentials.values();
  }

  /** Applies one batch. Batches at or below the view's revision are skipped. */
  apply(batch: Batch): void {
    if (batch.revision <= this.#revision) return;
    for (const change of batch.changes) this.#applyChange(change);
    this.#revision = batch.revision;
  }

  /** Adds a part of a snapshot to a view that is not in use yet. */
  fill(entries: readonly Entry[]): void {
    for (const entry of entries) this.#applyChange(entry);
  }

  /** All parts are loaded: the view is the ledger as of the revision. */
  filled(revision: number): void {
    this.#revision = revision;
  }

  #applyChange(change: Change): void {
    if (change.value === undefined) this.#revisions.delete(change.key);
    else this.#revisions.set(change.key, change.revision);
    const { kind, site, rest } = partsOfKey(change.key);
    const [name = '', last = ''] = rest;
    switch (kind) {
      case 'site':
        this.#siteNamed(site).setSite(kept(change, siteRecordSchema));
        break;
      case 'cluster':
        put(this.#siteNamed(site).clusters, name, kept(change, clusterRecordSchema));
        break;
      case 'beat':
        put(this.#siteNamed(site).beats, name, kept(change, beatRecordSchema));
        break;
      case 'address':
        this.#siteNamed(site).setAddress(parseAddress(name), kept(change, addressRecordSchema));
        break;
      case 'tombstone':
        this.#siteNamed(site).setTombstone(last, kept(change, tombstoneRecordSchema));
        break;
      case 'waiter':
        put(this.#siteNamed(site).waiters, change.key, kept(change, waiterRecordSchema));
        break;
      case 'credential':
        put(this.#credentials, site, kept(change, credentialRecordSchema));
        break;
      case 'queue':
        this.#siteNamed(site).queue = kept(change, queueRecordSchema);
        break;
      default:
      // A key of a newer version.
    }
  }

  #siteNamed(name: string): SiteView {
    const known = this.#sites.get(name);
    if (known !== undefined) return known;
    const site = new SiteView(name);
    this.#sites.set(name, site);
    return site;
  }
}

function put<T>(map: Map<string, Kept<T>>, name: string, value: Kept<T> | undefined): void {
  if (value === undefined) map.delete(name);
  else map.set(name, value);
}

function kept<T>(change: Change, schema: z.ZodType<T>): Kept<T> | undefined {
  if (change.value === undefined) return undefined;
  const { key, revision } = change;
  try {
    return { key, revision, record: schema.parse(JSON.parse(change.value)) };
  } catch (error) {
    throw new CausewayError('internal', `the record at ${key} cannot be read`, {
      cause: error,
      hint: 'A newer version may have written it, or another program writes to this ledger.',
    });
  }
}
