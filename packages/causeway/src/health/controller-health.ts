import type { LeaseFacts } from './facts.ts';
import type { Cause } from './state.ts';

export interface ControllerHealth {
  /** The leader; undefined without a leader. */
  readonly leader: string | undefined;
  /** Why no controller works, if so. */
  readonly cause: Cause | undefined;
}

const start =
  'Start the controller, or see why it does not run: `kubectl get pods -A | grep causeway`.';

/** A younger report shows that a controller runs, also without a lease. */
const reportAgeMs = 30_000;

/** Judges the controller by its lease. A lease that was not read says nothing. */
export function controllerHealth(
  lease: LeaseFacts,
  reportedAt: number | undefined,
  now: number,
): ControllerHealth {
  if (lease.kind === 'not-read') return { leader: undefined, cause: undefined };
  if (lease.kind === 'absent') {
    const isReporting = reportedAt !== undefined && now - reportedAt <= reportAgeMs;
    if (isReporting) return { leader: 'a controller without leader election', cause: undefined };
    return absent('No controller has run in this cluster: its lease does not exist.', undefined);
  }
  const { holder, renewedAt, validForMs } = lease;
  if (holder === '') return absent('No controller leads: the last one has stopped.', renewedAt);
  const isValid = renewedAt !== undefined && now - renewedAt < validForMs;
  if (isValid) return { leader: holder, cause: undefined };
  return {
    leader: undefined,
    cause: {
      code: 'controller-hung',
      message: `The controller ${holder} does not renew its lease: it hangs, was killed, or does not reach the API server.`,
      since: renewedAt,
      remedy: `See the log of ${holder}, and restart it. Another replica takes over when it reaches the API server.`,
    },
  };
}

function absent(message: string, since: number | undefined): ControllerHealth {
  return { leader: undefined, cause: { code: 'no-controller', message, since, remedy: start } };
}
