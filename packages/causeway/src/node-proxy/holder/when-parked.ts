import type { Clock } from '@causeway/base/time/clock';
import type { CommitSource } from '../served-service.ts';

/** Resolves once the kernel accepts none of these Services here any more, or after a timeout. */
export function whenParked(
  commits: CommitSource,
  services: Iterable<string>,
  clock: Clock,
  patienceMs: number,
): Promise<void> {
  const awaited = new Set(services);
  if (awaited.size === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      stop();
      timer.cancel();
      resolve();
    };
    const stop = commits.onCommit((served) => {
      for (const { service, diversion } of served) {
        if (diversion?.kind !== 'accept') awaited.delete(service);
      }
      if (awaited.size === 0) end();
    });
    const timer = clock.timer(patienceMs, end);
  });
}
