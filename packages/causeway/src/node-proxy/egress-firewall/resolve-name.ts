import dns from 'node:dns/promises';
import { tryParseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Resolution } from './name-watcher.ts';

interface Answer {
  readonly address: string;
  readonly ttl: number;
}

interface FamilyResolver {
  resolve4(name: string, options: { ttl: true }): Promise<readonly Answer[]>;
  resolve6(name: string, options: { ttl: true }): Promise<readonly Answer[]>;
  cancel(): void;
}

/**
 * Resolves both families with the system's DNS servers, with the shortest TTL. No address at all is a
 * failure: it has no TTL, and would allow addresses that the name denies.
 */
export async function resolveName(
  name: string,
  signal: AbortSignal,
  resolver: FamilyResolver = new dns.Resolver({ timeout: 2_000, tries: 2 }),
): Promise<Resolution> {
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.all([
      orNone(resolver.resolve4(name, { ttl: true })),
      orNone(resolver.resolve6(name, { ttl: true })),
    ]);
    const all = answers.flat();
    const addresses = all
      .map(({ address }) => tryParseAddress(address))
      .filter((address) => address !== undefined);
    if (addresses.length === 0) throw new CausewayError('not-found', `${name} has no address`);
    return {
      addresses,
      ttlMs: Math.min(...all.map(({ ttl }) => ttl), maxTtlSeconds) * 1000,
    };
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const maxTtlSeconds = 3_600;

/** A name may have addresses of one family only. An unknown name is a failure: it may be created later. */
async function orNone(answer: Promise<readonly Answer[]>): Promise<readonly Answer[]> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ENODATA') return [];
    throw error;
  }
}
