import type { IpamClient } from '../../ipam/api/client.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { LoadBalancerProvider } from '../provider.ts';
import type { AnnouncerName } from './announcer.ts';
import { AnnouncerDetector } from './detect-announcer.ts';
import { PoolLedger } from './pool-ledger.ts';
import { PoolProvider } from './pool-provider.ts';
import { PoolRelease } from './pool-release.ts';
import { WithdrawalWatch } from './withdrawal.ts';

export interface PoolParts {
  readonly client: KubeClient;
  readonly ipam: Pick<IpamClient, 'call'>;
  readonly site: string;
  readonly cluster: string;
  /** Undefined looks what is installed. */
  readonly announcer: AnnouncerName | undefined;
  readonly classes: readonly string[];
  readonly withdrawalMs: number;
  readonly clock: Clock;
}

/** Puts the pool provider together. */
export function makePoolProvider(parts: PoolParts): LoadBalancerProvider {
  const { client, clock, site, cluster, announcer, classes, withdrawalMs } = parts;
  const ledger = new PoolLedger(parts.ipam, { site, cluster });
  const watch = new WithdrawalWatch(client);
  return new PoolProvider({
    ledger,
    detector: new AnnouncerDetector(client, clock),
    release: new PoolRelease({ client, ledger, watch, clock, withdrawalMs }),
    announcer,
    classes,
  });
}
