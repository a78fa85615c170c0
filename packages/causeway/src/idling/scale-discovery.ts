import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { defineResource, type Resource } from '@causeway/kubernetes/objects/resource';

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** How an owner reference or an annotation identifies a kind: with a version, or with the group alone. */
export interface KindName {
  readonly group: string;
  /** The server's preferred version if omitted. */
  readonly version?: string | undefined;
  readonly kind: string;
}

export interface FoundKind {
  readonly resource: Resource;
  readonly hasScale: boolean;
}

/**
 * Asks the API server which resource a kind belongs to and whether it has a scale. So every object with
 * replicas can be idled, including custom resources. Answers are kept for the lifetime of this object.
 */
export class ScaleDiscovery {
  readonly #client: KubeClient;
  readonly #resources = new Map<string, Promise<readonly ApiResource[]>>();
  readonly #preferred = new Map<string, Promise<string | undefined>>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Undefined for a kind that the server does not serve. */
  async find(name: KindName, signal: AbortSignal): Promise<FoundKind | undefined> {
    const { group, kind } = name;
    const version = name.version ?? (await this.#preferredVersion(group, signal));
    if (version === undefined) return undefined;
    const all = await this.#resourcesOf(group, version, signal);
    const found = all.find((entry) => entry.kind === kind && !entry.name.includes('/'));
    if (found === undefined) {
      // A definition may have been created since the last request.
      this.#resources.delete(pathOf(group, version));
      return undefined;
    }
    const { name: plural, namespaced } = found;
    return {
      resource: defineResource({ group, version, plural, kind, namespaced }),
      hasScale: all.some((entry) => entry.name === `${plural}/scale`),
    };
  }

  /** The server may serve the kind in another version than before. The next call asks again. */
  drop({ group }: Pick<KindName, 'group'>): void {
    this.#preferred.delete(group);
    const prefix = pathOf(group, '');
    for (const path of this.#resources.keys()) {
      if (path.startsWith(prefix)) this.#resources.delete(path);
    }
  }

  #preferredVersion(group: string, signal: AbortSignal): Promise<string | undefined> {
    if (group === '') return Promise.resolve('v1');
    return cached(this.#preferred, group, async () => {
      const answer = (await this.#ask(`/apis/${encodeURIComponent(group)}`, signal)) as
        | { readonly preferredVersion?: { readonly version?: string } }
        | undefined;
      return answer?.preferredVersion?.version;
    });
  }

  #resourcesOf(
    group: string,
    version: string,
    signal: AbortSignal,
  ): Promise<readonly ApiResource[]> {
    const path = pathOf(group, version);
    return cached(this.#resources, path, async () => {
      const answer = (await this.#ask(path, signal)) as
        | { readonly resources?: readonly ApiResource[] }
        | undefined;
      return answer?.resources ?? [];
    });
  }

  async #ask(path: string, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#client.getPath(path, { signal });
    } catch (error) {
      if (isErrorCode(error, 'not-found')) return undefined;
      throw error;
    }
  }
}

function pathOf(group: string, version: string): string {
  const tail = encodeURIComponent(version);
  return group === '' ? `/api/${tail}` : `/apis/${encodeURIComponent(group)}/${tail}`;
}

/** Failures and missing kinds are requested again on the next call: a definition may be created later. */
async function cached<T>(
  known: Map<string, Promise<T>>,
  key: string,
  ask: () => Promise<T>,
): Promise<T> {
  const asked = known.get(key) ?? ask();
  known.set(key, asked);
  try {
    const answer = await asked;
    const isEmpty = answer === undefined || (Array.isArray(answer) && answer.length === 0);
    if (isEmpty) known.delete(key);
    return answer;
  } catch (error) {
    known.delete(key);
    throw error;
  }
}
