import net from 'node:net';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Loop } from '@causeway/base/work/supervisor';
import { listen } from '@causeway/base/network/listen';
import type { VrrpStatus } from './keepalived/vrrp-status.ts';
import type { Overrides } from '../overrides.ts';
import type { AgentSettings } from '../settings.ts';

export interface SimulatedAnnouncerOptions {
  /** The same word for all gateways that play together, on one machine. */
  readonly group: string;
  readonly status: Pick<VrrpStatus, 'enter'>;
  /** Whether it may hold addresses: not while it is drained. */
  readonly isFit: () => boolean;
  readonly clock: Clock;
}

/** As long as keepalived with its default interval would need. */
const checkEveryMs = 300;

/** What an agent runs for it; nothing where addresses really move. */
export function simulatedAnnouncer(
  { addresses: { mover, simulatedWith: group } }: AgentSettings,
  { status, overrides, clock }: { status: VrrpStatus; overrides: Overrides; clock: Clock },
): Record<string, Loop> {
  if (mover !== 'simulated') return {};
  const isFit = () => overrides.get('drained') === undefined;
  return { 'VRRP state': (signal) => simulateVrrp({ group, status, isFit, clock }, signal) };
}

/**
 * Plays VRRP where nothing flows, between processes of one machine: who holds the name is master. The
 * name is one of those that no file stands for, so it is free again as soon as its holder has died.
 */
export async function simulateVrrp(
  options: SimulatedAnnouncerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { status, isFit, clock, group } = options;
  let held: net.Server | undefined;
  try {
    while (!signal.aborted) {
      if (!isFit()) {
        await release(held);
        held = undefined;
        status.enter('FAULT');
      } else {
        held ??= await hold(`\0causeway-vrrp-${group}`);
        status.enter(held === undefined ? 'BACKUP' : 'MASTER');
      }
      await sleep(clock, checkEveryMs, signal).catch(() => undefined);
    }
  } finally {
    await release(held);
  }
}

/** Undefined when another process holds the name. */
async function hold(name: string): Promise<net.Server | undefined> {
  const server = net.createServer((visitor) => visitor.destroy());
  try {
    await listen(server, { path: name });
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw CausewayError.from(error);
  }
}

function release(server: net.Server | undefined): Promise<void> {
  if (server === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
