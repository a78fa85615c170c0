import type { FrontendErrors, OlderRecord, WithheldRecord } from './acknowledgement.ts';
import type { FrontendIdRecord } from './records.ts';
import type { KernelSetting } from '@causeway/netlink/kernel-settings';
import type { Override } from './override.ts';
import type { Role } from './role.ts';

/** The body of `GET /v2/status`, and every line of `GET /v2/events`. */
export interface AgentStatus {
  readonly agent: string;
  readonly version: string;
  /**
   * A short digest of the seed, by which the controller compares gateways. It says nothing about the choice of
   * backends. Missing in older versions, and with several active groups.
   */
  readonly seed?: string;
  /** The revisions of `/v2` that this agent supports. */
  readonly revisions: { readonly oldest: number; readonly newest: number };
  readonly generation: number;
  readonly frontends: number;
  readonly older: readonly OlderRecord[];
  /** Removals that the guard withholds. Missing in older versions of the agent. */
  readonly withheld?: readonly WithheldRecord[];
  /** Errors of the last accepted update. */
  readonly errors: readonly FrontendErrors[];
  /** The first hundred frontends with connections that may not survive a failover. */
  readonly notFailoverSafe: readonly FrontendIdRecord[];
  /** The number of pins, and the process that holds them. Missing in older versions of the agent. */
  readonly pins?: { readonly epoch: string; readonly count: number };
  /** False while the kernel may differ from the accepted configuration. */
  readonly sound: boolean;
  readonly announcer: {
    readonly role: Role;
    readonly since: string | null;
    /** Why the gateway is unable to become active. */
    readonly reason: string | null;
  };
  readonly frozen: Override | null;
  readonly drained: Override | null;
  /** Missing in older versions of the agent. */
  readonly removal?: Override | null;
  readonly undoSteps: number;
  readonly unhealthy: {
    /** Number of backends and nodes that have ever answered a probe. Only these can become unhealthy. */
    readonly heard: number;
    /** Unhealthy according to this agent's probes. */
    readonly seen: readonly string[];
    /** Excluded from traffic, according to the controller or this agent. */
    readonly acted: readonly string[];
  };
  readonly alarms: readonly string[];
  readonly kernelSettings: readonly KernelSetting[];
  readonly connections: { readonly count: number; readonly limit: number } | null;
}

/** One entry of the answer to `GET /v2/counters`. */
export interface FrontendCount extends FrontendIdRecord {
  /** `namespace/name` of the Service that it is served for, if known. */
  readonly service?: string;
  /** New connections since the rules were made. A string, because it may exceed the range of a number. */
  readonly connections: string;
  /** Packets of UDP and SCTP that is sent to nodes unchanged, because its connections are not tracked. */
  readonly packets?: string;
}
