import { z } from 'zod';
import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { announcerNames } from './announcer.ts';
import { fromLegacyFence, readLegacyReleases, removeLegacyReleases } from './legacy.ts';

/** A deleted Service with a reservation that the ledger has not freed yet. */
export interface PendingRelease {
  readonly uid: string;
  /** Undefined if unknown; the ledger knows the fencing token. */
  readonly fencingToken?: number | undefined;
  /** Whether the announcement was seen to end. */
  readonly withdrawn: boolean;
  /** What to check before the release; undefined if nothing. */
  readonly announced?: Announced | undefined;
}

/** The address may still be announced. */
export type Announced = z.infer<typeof announcedSchema>;

const announcedSchema = z.object({
  by: z.enum(announcerNames),
  namespace: z.string(),
  name: z.string(),
  /** Whether the announcement was seen. Then its end can be seen as well. */
  wasSeen: z.boolean(),
  /** The lease term of the announcement. A Service of the same name has another term. */
  term: z.object({ holder: z.string(), since: z.string(), number: z.number() }).optional(),
});

const pendingSchema = z.object({
  fencingToken: z.number().optional(),
  withdrawn: z.boolean(),
  announced: announcedSchema.optional(),
});

export const pendingReleasesName = 'causeway-pool-pending-releases';
const fieldManager = 'causeway-controller';

/**
 * Stores pending releases in the cluster, as a ConfigMap, until the ledger has freed them. A Service need not
 * wait for that.
 */
export class PendingReleases {
  readonly #client: KubeClient;
  readonly #name: { readonly namespace: string; readonly name: string };

  /** The UIDs of pending releases that may still be announced; undefined before the first read. */
  #announced: Set<string> | undefined;
  #additions = 0;
  #isLegacyMoved = false;

  constructor(client: KubeClient, namespace: string) {
    this.#client = client;
    this.#name = { namespace, name: pendingReleasesName };
  }

  /** Whether an address without a Service may be announced, which the controller can't stop. */
  get mayBeAnnounced(): boolean {
    return this.#announced === undefined || this.#announced.size > 0;
  }

  async add({ uid, ...pending }: PendingRelease, signal: AbortSignal): Promise<void> {
    this.#additions += 1;
    if (pending.announced !== undefined) this.#announced?.add(uid);
    await this.#write({ [uid]: JSON.stringify(pending) }, signal);
  }

  async list(signal: AbortSignal): Promise<PendingRelease[]> {
    const before = this.#additions;
    const stored = { ...(await this.#readLegacy(signal)), ...(await this.#read(signal)) };
    const all = Object.entries(stored).flatMap(([uid, text]) => {
      const pending = parse(text);
      return pending === undefined ? [] : [{ uid, ...pending }];
    });
    const announced = all.filter((pending) => pending.announced !== undefined);
    // Additions during the read may be missing in the result.
    const others = before === this.#additions ? [] : (this.#announced ?? []);
    this.#announced = new Set([...others, ...announced.map(({ uid }) => uid)]);
    return all;
  }

  async remove({ uid }: PendingRelease, signal: AbortSignal): Promise<void> {
    const patch = { data: { [uid]: null } };
    await this.#client.patchMerge(configMaps, this.#name, patch, { signal, fieldManager });
    this.#announced?.delete(uid);
  }

  /** Moves the entries of 0.1.0 to the current ConfigMap. Only the leading controller may call it. */
  async moveLegacy(signal: AbortSignal): Promise<void> {
    const legacy = await this.#readLegacy(signal);
    const uids = Object.keys(legacy);
    if (uids.length > 0) {
      // An interrupted move may have left entries in both: the current ConfigMap has the newer ones.
      await this.#write({ ...legacy, ...(await this.#read(signal)) }, signal);
      await removeLegacyReleases(this.#client, this.#name.namespace, uids, signal);
    }
    this.#isLegacyMoved = true;
  }

  async #readLegacy(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    if (this.#isLegacyMoved) return {};
    return readLegacyReleases(this.#client, this.#name.namespace, signal);
  }

  async #read(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    return (await this.#client.find(configMaps, this.#name, { signal }))?.data ?? {};
  }

  async #write(data: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    try {
      await this.#client.patchMerge(configMaps, this.#name, { data }, { signal, fieldManager });
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
      await this.#client.create(configMaps, { metadata: this.#name, data }, { signal });
    }
  }
}

/** Unreadable entries stay: an operator may understand them. */
function parse(text: string): z.infer<typeof pendingSchema> | undefined {
  try {
    return pendingSchema.safeParse(fromLegacyFence(JSON.parse(text))).data;
  } catch {
    return undefined;
  }
}
