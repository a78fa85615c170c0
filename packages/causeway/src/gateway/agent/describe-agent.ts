import { listWithheld } from './apply/acknowledge.ts';
import { groupByFrontend, listOlder } from './apply/acknowledge.ts';
import type { Alarms } from './alarms.ts';
import type { Gateway } from './gateway.ts';
import type { AgentStatus } from '../protocol/agent-status.ts';
import type { Announcer } from './announce/announcer.ts';
import type { Kernel } from './kernel.ts';
import type { ConnectionPins } from './pins/connection-pins.ts';
import type { Overrides } from './overrides.ts';
import type { ProbeResults } from './probe/probe-results.ts';
import type { BackendHealth } from './probe/backend-health.ts';
import { formatFrontendId } from '../protocol/records.ts';
import { revisions } from '../protocol/revision.ts';

/** All parts of an agent that its status covers. */
export interface DescribedParts {
  readonly name: string;
  readonly version: string;
  /** The digest of the seed, if the controller should compare it. */
  readonly seed?: string | undefined;
  readonly gateway: Gateway;
  readonly kernel: Kernel;
  readonly overrides: Overrides;
  readonly alarms: Alarms;
  readonly ledger: ProbeResults;
  readonly backendHealth: BackendHealth;
  readonly announcer: Pick<Announcer, 'status'>;
  readonly pins: Pick<ConnectionPins, 'epoch' | 'size' | 'full' | 'areHandedOver'>;
}

const mostListed = 100;

/** The agent's current status. */
export function describeAgent(parts: DescribedParts): AgentStatus {
  const { gateway, kernel, overrides, backendHealth } = parts;
  const { state } = gateway;
  const { role, since, reason } = parts.announcer.status();
  return {
    agent: parts.name,
    version: parts.version,
    ...(parts.seed === undefined ? {} : { seed: parts.seed }),
    revisions,
    generation: state.generation,
    frontends: state.frontends.size,
    older: listOlder(state),
    withheld: listWithheld(state),
    errors: groupByFrontend(gateway.complaints),
    notFailoverSafe: [
      ...(parts.pins.areHandedOver() ? [] : kernel.sharedFrontends()),
      ...parts.pins.full(),
    ]
      .slice(0, mostListed)
      .map(formatFrontendId),
    pins: { epoch: parts.pins.epoch, count: parts.pins.size },
    sound: !gateway.isDegraded,
    announcer: {
      role,
      since: new Date(since).toISOString(),
      reason: reason ?? null,
    },
    frozen: overrides.get('frozen') ?? null,
    drained: overrides.get('drained') ?? null,
    removal: overrides.get('removal') ?? null,
    undoSteps: gateway.undoSteps,
    unhealthy: {
      heard: parts.ledger.heard,
      seen: [...backendHealth.own],
      acted: [...gateway.unhealthy],
    },
    alarms: parts.alarms.list(),
    kernelSettings: kernel.settings(),
    connections: kernel.connections(),
  };
}
