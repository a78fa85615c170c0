import type { Random } from '@causeway/base/simulation/random';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Alarms } from './alarms.ts';
import { nextHealth, type Health, type HealthPace } from './health.ts';
import type { FaultReasons } from './announce/keepalived/fault-reasons.ts';

export interface HealthWatchOptions {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly faults: FaultReasons;
  readonly pace: HealthPace;
  readonly random: Random;
  /** Other gateways exist that could take over. */
  readonly hasPeers: boolean;
  /** Why this gateway should not be master; undefined if it may be. */
  illness(): string | undefined;
  /** Whether the illness prevents answers to clients. */
  isUnanswering(): boolean;
  /** Number of VRRP packets received from peers. */
  countAdverts(signal: AbortSignal): Promise<bigint>;
}

const everyMs = 500;

/** Gives up the addresses while this machine is unhealthy and another gateway is not. */
export async function watchHealth(options: HealthWatchOptions, signal: AbortSignal): Promise<void> {
  const { clock, alarms, faults, pace, hasPeers, random } = options;
  let health: Health = { kind: 'well' };
  let heard: bigint | undefined;
  while (!signal.aborted) {
    await sleep(clock, everyMs, signal);
    const illness = options.illness();
    const count: bigint | undefined =
      health.kind === 'well' ? undefined : await options.countAdverts(signal).catch(() => heard);
    const hearsPeer = count !== undefined && heard !== undefined && count > heard;
    heard = count;
    const before: Health = health;
    const isUnanswering = options.isUnanswering();
    const observation = { now: clock.monotonic(), illness, hearsPeer, hasPeers, isUnanswering };
    health = nextHealth(before, observation, pace, random);
    if (health.kind !== before.kind) await faults.set('ill', health.kind === 'away');
    alarms.set('bad-health', describe(health, illness));
  }
}

function describe({ kind }: Health, illness = 'it was unhealthy recently'): string | undefined {
  switch (kind) {
    case 'well':
    case 'ill':
      return undefined;
    case 'away':
      return `the addresses are given up: ${illness}`;
    case 'alone':
      return `the addresses are kept because no other gateway took them: ${illness}`;
    default:
      return kind satisfies never;
  }
}
