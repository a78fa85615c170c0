import type { Clock } from '@causeway/base/time/clock';
import type { Announcer } from './announcer.ts';

/**
 * Another system moves the addresses: a router, a cloud or a program of the operator. The agent does not know
 * the role, and a withdrawal has no effect.
 */
export function foreignAnnouncer(clock: Clock): Announcer {
  const since = clock.wallTime();
  return {
    announced: () => Promise.resolve(new Set()),
    test: () => Promise.resolve(),
    announce: () => Promise.resolve(),
    withdraw: () => Promise.resolve(),
    withdrawAll: () => Promise.resolve(),
    resume: () => Promise.resolve(),
    status: () => ({ role: 'foreign', since, reason: undefined }),
    onChange: () => {},
    missing: () => Promise.resolve(new Set()),
    drain: () => Promise.resolve(),
    loops: () => ({}),
    network: undefined,
  };
}
