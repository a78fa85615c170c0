import type { Random } from '@causeway/base/simulation/random';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Alarms } from './alarms.ts';
import { nextHealth, type Health, type HealthPace } from './health.ts';
import type { Announcer, AnnouncerNetwork } from './announce/announcer.ts';

export interface HealthWatchOptions {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly announcer: Pick<Announcer, 'withdrawAll' | 'resume'>;
  readonly network: Pick<AnnouncerNetwork, 'hasPeers' | 'countPeerSigns'>;
  readonly pace: HealthPace;
  readonly random: Random;
  /** Why this gateway should not be active; undefined if it may be. */
  illness(): string | undefined;
  /** Whether the illness prevents answers to clients. */
  isUnanswering(): boolean;
}

const everyMs = 500;
const recently = 'it was unhealthy recently';

/** Gives up the addresses while this machine is unhealthy and another gateway is not. */
export async function watchHealth(options: HealthWatchOptions, signal: AbortSignal): Promise<void> {
  const { clock, alarms, announcer, network, pace, random } = options;
  const { hasPeers } = network;
  let health: Health = { kind: 'well' };
  let heard: bigint | undefined;
  let withdrawnFor: string | undefined;
  while (!signal.aborted) {
    await sleep(clock, everyMs, signal);
    const illness = options.illness();
    const count: bigint | undefined =
      health.kind === 'well' ? undefined : await network.countPeerSigns(signal).catch(() => heard);
    const hearsPeer = count !== undefined && heard !== undefined && count > heard;
    heard = count;
    const isUnanswering = options.isUnanswering();
    const observation = { now: clock.monotonic(), illness, hearsPeer, hasPeers, isUnanswering };
    health = nextHealth(health, observation, pace, random);
    const reason: string | undefined = health.kind === 'away' ? (illness ?? recently) : undefined;
    if (reason !== withdrawnFor) {
      await (reason === undefined
        ? announcer.resume('unhealthy')
        : announcer.withdrawAll('unhealthy', reason));
    }
    withdrawnFor = reason;
    alarms.set('bad-health', describe(health, illness));
  }
}

function describe({ kind }: Health, illness = recently): string | undefined {
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
