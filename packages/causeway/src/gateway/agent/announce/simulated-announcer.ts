import net from 'node:net';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Loop } from '@causeway/base/work/supervisor';
import { listen } from '@causeway/base/network/listen';
import type { RoleStatus } from './role-status.ts';
import type { Overrides } from '../overrides.ts';
import type { AgentSettings } from '../settings.ts';

export interface SimulatedAnnouncerOptions {
  /** The same name for all simulated gateways of a group on one machine. */
  readonly group: string;
  readonly status: Pick<RoleStatus, 'enter'>;
  /** Whether the gateway may hold addresses. False while it is drained. */
  readonly isFit: () => boolean;
  readonly clock: Clock;
}

/** About the failover time of keepalived with its default interval. */
const checkEveryMs = 300;

/** The agent's loops for the simulated announcer. Empty with a real announcer. */
export function simulatedAnnouncer(
  { addresses: { mover, simulatedWith: group } }: AgentSettings,
  { status, overrides, clock }: { status: RoleStatus; overrides: Overrides; clock: Clock },
): Record<string, Loop> {
  if (mover !== 'simulated') return {};
  const isFit = () => overrides.get('drained') === undefined;
  return { 'simulated role': (signal) => simulateRole({ group, status, isFit, clock }, signal) };
}

/**
 * Elects the active gateway among the processes of one machine: the process that holds the name is active. The
 * name is an abstract socket without a file, so it is released as soon as its holder dies.
 */
export async function simulateRole(
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
        status.enter('unable', 'the gateway is drained');
      } else {
        held ??= await hold(`\0causeway-active-${group}`);
        status.enter(held === undefined ? 'standby' : 'active');
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
