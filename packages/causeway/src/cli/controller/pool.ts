import { CausewayError } from '@causeway/base/error/causeway-error';
import { IpamClient } from '../../ipam/api/client.ts';
import { readIfNamed } from '../../ipam/open-ledger.ts';
import { makeNodeProvider, makePoolProvider } from '../../pool/make-pool-provider.ts';
import type { PoolSettings } from '../../pool/settings.ts';
import type { ServiceProvider } from '../../services/service-provider.ts';
import type { ControllerSettings } from './settings.ts';
import type { Clock } from '@causeway/base/time/clock';
import type { ProviderSurroundings } from './providers.ts';

/** The pool provider as configured in the controller's settings. */
export async function poolProvider(
  { pool, leaderElection, driftSeconds }: ControllerSettings,
  surroundings: ProviderSurroundings,
): Promise<ServiceProvider> {
  if (needsNoLedger(pool))
    return makeNodeProvider({ ...surroundings, node: pool.node, classes: pool.classes });
  return makePoolProvider({
    ...surroundings,
    ipam: await ipamClient(pool, surroundings.clock),
    site: required(pool.site, 'pool.site'),
    cluster: required(pool.cluster, 'pool.cluster'),
    announcer: pool.announcer === 'auto' ? undefined : pool.announcer,
    node: pool.node,
    classes: pool.classes,
    heartbeatMs: pool.heartbeatSeconds * 1000,
    driftEveryMs: driftSeconds * 1000,
    selfWithdrawal: pool.selfWithdrawal,
    namespace: leaderElection.namespace,
    withdrawalMs: pool.withdrawalSeconds * 1000,
  });
}

/** With nodes' own addresses nothing is reserved. With a ledger, Services may request another announcer. */
function needsNoLedger({ announcer, servers, site, cluster, tokenFile }: PoolSettings): boolean {
  const names = [site, cluster, tokenFile];
  return announcer === 'node' && servers.length === 0 && names.every((name) => name === undefined);
}

/** A client for the ledger with the cluster's own credential. */
export async function ipamClient(pool: PoolSettings, clock: Clock): Promise<IpamClient> {
  const tokenFile = required(pool.tokenFile, 'pool.tokenFile');
  if (pool.servers.length === 0) required(undefined, 'pool.servers');
  return new IpamClient({
    urls: pool.servers,
    // Read at each call: a rotated Secret changes in a running pod.
    token: async () => ((await readIfNamed(tokenFile)) ?? '').trim(),
    tls: { ca: await readIfNamed(pool.authorityFile) },
    clock,
  });
}

export function required(value: string | undefined, setting: string): string {
  if (value !== undefined) return value;
  throw new CausewayError('invalid', `${setting} is missing`, {
    hint: 'The pool provider needs pool.servers, pool.site, pool.cluster and pool.tokenFile, or pool.announcer node without any of them.',
  });
}
