import type { EndpointErrors, OlderRecord, WithheldRecord } from './acknowledgement.ts';
import type { EndpointIdRecord } from './records.ts';
import type { KernelSetting } from '@causeway/netlink/kernel-settings';
import type { Override } from './override.ts';

/** What `GET /v2/status` answers, and every line of `GET /v2/events`. */
export interface AgentStatus {
  readonly agent: string;
  readonly version: string;
  /** The revisions of `/v2` that this agent understands. */
  readonly revisions: { readonly oldest: number; readonly newest: number };
  readonly generation: number;
  readonly endpoints: number;
  readonly older: readonly OlderRecord[];
  /** Removals that the guard withholds. Missing where the agent is of a version that does not know it. */
  readonly withheld?: readonly WithheldRecord[];
  /** What was wrong with the last push that was taken. */
  readonly errors: readonly EndpointErrors[];
  /** Endpoints whose running connections may not survive a failover, the first hundred of them. */
  readonly notFailoverSafe: readonly EndpointIdRecord[];
  /** False while the kernel may differ from the accepted configuration. */
  readonly sound: boolean;
  readonly vrrp: { readonly state: string; readonly since: string | null };
  readonly frozen: Override | null;
  readonly drained: Override | null;
  /** Missing where the agent is of a version that does not know it. */
  readonly removal?: Override | null;
  readonly undoSteps: number;
  readonly unhealthy: {
    /** How many destinations and nodes have ever answered a probe. Only those can be missed. */
    readonly heard: number;
    /** Whom this agent itself sees as silent. */
    readonly seen: readonly string[];
    /** Who gets no traffic for it, by the controller's answer or our own. */
    readonly acted: readonly string[];
  };
  readonly alarms: readonly string[];
  readonly kernelSettings: readonly KernelSetting[];
  readonly connections: { readonly count: number; readonly limit: number } | null;
}

/** One line of what `GET /v2/counters` answers. */
export interface EndpointCount extends EndpointIdRecord {
  /** `namespace/name` of the Service that it is served for, where that is known. */
  readonly service?: string;
  /** New connections since the rules were made; a string, because it may be larger than a number holds. */
  readonly connections: string;
  /** Of UDP and SCTP that is sent to nodes unchanged: packets, because nobody tracks its connections. */
  readonly packets?: string;
}
