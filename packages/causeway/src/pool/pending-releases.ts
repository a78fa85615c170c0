import { z } from 'zod';
import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { announcerNames } from './announcer.ts';

/** A Service that went and whose addresses the ledger has not been told of yet. */
export interface PendingRelease {
  readonly uid: string;
  /** Undefined if it isn't known; the ledger knows it. */
  readonly fence?: number | undefined;
  /** Whether somebody saw that nothing is announced any more. */
  readonly withdrawn: boolean;
  /** What is to be looked at before anything is freed; undefined if nothing is. */
  readonly announced?: Announced | undefined;
}

/** Somebody may announce it still. */
export type Announced = z.infer<typeof announcedSchema>;

const announcedSchema = z.object({
  by: z.enum(announcerNames),
  namespace: z.string(),
  name: z.string(),
  /** Whether it was seen announced: then its end can be seen as well. */
  wasSeen: z.boolean(),
  /** By which it was announced; a Service of the same name has another one. */
  term: z.object({ holder: z.string(), since: z.string(), number: z.number() }).optional(),
});

const departureSchema = z.object({
  fence: z.number().optional(),
  withdrawn: z.boolean(),
  announced: announcedSchema.optional(),
});

const fieldManager = 'causeway-controller';

/** Kept in the cluster, as a ConfigMap, until the ledger has heard of them: a Service needn't wait for that. */
export class PendingReleases {
  readonly #client: KubeClient;
  readonly #name: { readonly namespace: string; readonly name: string };

  /** The UIDs of those that somebody may announce still; undefined until they have been read. */
  #announced: Set<string> | undefined;
  #additions = 0;

  constructor(client: KubeClient, namespace: string) {
    this.#client = client;
    this.#name = { namespace, name: 'causeway-pool-departed' };
  }

  /** Whether an address may be announced that no Service has any more, and that nobody can stop. */
  get mayBeAnnounced(): boolean {
    return this.#announced === undefined || this.#announced.size > 0;
  }

  async add({ uid, ...departure }: PendingRelease, signal: AbortSignal): Promise<void> {
    this.#additions += 1;
    if (departure.announced !== undefined) this.#announced?.add(uid);
    const data = { [uid]: JSON.stringify(departure) };
    try {
      await this.#client.patchMerge(configMaps, this.#name, { data }, { signal, fieldManager });
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
      await this.#client.create(configMaps, { metadata: this.#name, data }, { signal });
    }
  }

  async list(signal: AbortSignal): Promise<PendingRelease[]> {
    const before = this.#additions;
    const map = await this.#client.find(configMaps, this.#name, { signal });
    const all = Object.entries(map?.data ?? {}).flatMap(([uid, text]) => {
      const departure = parse(text);
      return departure === undefined ? [] : [{ uid, ...departure }];
    });
    const announced = all.filter((departure) => departure.announced !== undefined);
    // What was added while it was read may not be in it.
    const others = before === this.#additions ? [] : (this.#announced ?? []);
    this.#announced = new Set([...others, ...announced.map(({ uid }) => uid)]);
    return all;
  }

  async remove({ uid }: PendingRelease, signal: AbortSignal): Promise<void> {
    const patch = { data: { [uid]: null } };
    await this.#client.patchMerge(configMaps, this.#name, patch, { signal, fieldManager });
    this.#announced?.delete(uid);
  }
}

/** What nobody can read is left where it is: an operator may know what it was. */
function parse(text: string): z.infer<typeof departureSchema> | undefined {
  try {
    return departureSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
