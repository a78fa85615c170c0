import type { IpamClient } from '../ipam/api/client.ts';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { GuardReporter } from '../services/guard-register.ts';
import type { ServiceProvider } from '../services/service-provider.ts';
import type { AnnouncerName } from './announcer.ts';
import { Contact } from './contact.ts';
import { ContactMemory } from './contact-memory.ts';
import { ReleaseWatch } from './release-watch.ts';
import { PendingReleases } from './pending-releases.ts';
import { DriftWatch } from './drift-watch.ts';
import { AnnouncerDetector } from './detect-announcer.ts';
import { NodeProvider } from './node-provider.ts';
import { NodeView } from './node-view.ts';
import { PoolLedger } from './pool-ledger.ts';
import { PoolProvider } from './pool-provider.ts';
import { PoolRelease } from './pool-release.ts';
import { WithdrawalWatch } from './withdrawal.ts';

export interface NodeParts {
  readonly client: KubeClient;
  /** The node for Services that name none. */
  readonly node: string | undefined;
  readonly classes: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly guards?: GuardReporter | undefined;
}

export interface PoolParts extends NodeParts {
  readonly ipam: Pick<IpamClient, 'call'>;
  readonly site: string;
  readonly cluster: string;
  /** Undefined detects the installed announcers. */
  readonly announcer: AnnouncerName | undefined;
  readonly withdrawalMs: number;
  readonly heartbeatMs: number;
  readonly driftEveryMs: number;
  readonly selfWithdrawal: boolean;
  /** The namespace of the controller's own objects. */
  readonly namespace: string;
}

/** The provider without a ledger: Services use the nodes' own addresses. */
export function makeNodeProvider({ node, classes, ...parts }: NodeParts): ServiceProvider {
  return new NodeProvider({ nodes: new NodeView(parts), node, classes });
}

/** Assembles the pool provider. */
export function makePoolProvider(parts: PoolParts): ServiceProvider {
  const { client, clock, log, metrics, site, cluster, withdrawalMs } = parts;
  const { announcer, node, classes } = parts;
  const ledger = new PoolLedger(parts.ipam, { site, cluster });
  const releases = new PendingReleases(client, parts.namespace);
  const watch = new WithdrawalWatch(client);
  return new PoolProvider({
    ledger,
    detector: new AnnouncerDetector(client, clock),
    release: new PoolRelease({ releases, ledger, watch, clock, withdrawalMs }),
    releaseWatch: new ReleaseWatch({ releases, ledger, watch, clock, log, metrics }),
    selfWithdrawal: parts.selfWithdrawal,
    contact: new Contact({
      ledger,
      clock,
      log,
      selfWithdrawal: parts.selfWithdrawal,
      memory: new ContactMemory(client, parts.namespace),
      everyMs: parts.heartbeatMs,
    }),
    drift: new DriftWatch({ ledger, releases, clock, log, metrics, everyMs: parts.driftEveryMs }),
    clock,
    log,
    nodes: new NodeView({ client, clock, log, metrics, guards: parts.guards }),
    announcer,
    node,
    classes,
  });
}
