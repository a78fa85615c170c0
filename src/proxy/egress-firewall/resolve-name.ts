import dns from 'node:dns/promises';
import { tryParseAddress } from '../../domain/address.ts';
import type { Resolution } from './name-watcher.ts';

interface Answer {
  readonly address: string;
  readonly ttl: number;
}

/** Both families of a name from the system's DNS servers, with the shortest time to live. */
export async function resolveName(name: string, signal: AbortSignal): Promise<Resolution> {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.all([
      orNone(resolver.resolve4(name, { ttl: true })),
      orNone(resolver.resolve6(name, { ttl: true })),
    ]);
    const all = answers.flat();
    return {
      addresses: all
        .map(({ address }) => tryParseAddress(address))
        .filter((address) => address !== undefined),
      ttlMs: Math.min(...all.map(({ ttl }) => ttl), maxTtlSeconds) * 1000,
    };
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const maxTtlSeconds = 3_600;

/** A name that has no addresses of a family has none. One that nobody knows is a failure: it may come. */
async function orNone(answer: Promise<readonly Answer[]>): Promise<readonly Answer[]> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ENODATA') return [];
    throw error;
  }
}
