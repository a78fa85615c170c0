import type { Pod } from '../resources/pod/pod-type.ts';
import type { Service } from '../resources/service/service-type.ts';
import { keyOf } from './store-controller.ts';

interface Seen {
  readonly service: string;
  readonly pods: ReadonlyMap<string, string>;
}

/**
 * Finds the time of the change that causes an update of endpoints. This is the earliest new readiness change,
 * or the Service's creation time. The removal of a pod doesn't count.
 */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>();

  observe(service: Service, pods: readonly Pod[]): string | undefined {
    const known = this.#seen.get(keyOf(service));
    const before = known?.service === service.metadata.uid ? known : undefined;
    const times = new Map(pods.map((pod) => [pod.metadata.uid, readySince(pod) ?? '']));
    this.#seen.set(keyOf(service), { service: service.metadata.uid, pods: times });
    const newTimes = [...times].flatMap(([uid, time]) =>
      time > (before?.pods.get(uid) ?? '') ? [time] : [],
    );
    if (before === undefined) newTimes.push(service.metadata.creationTimestamp);
    return newTimes.sort()[0];
  }

  /** Deletes the record of a deleted Service. */
  forget(key: string): void {
    this.#seen.delete(key);
  }
}

function readySince({ status }: Pod): string | null | undefined {
  return (status?.conditions ?? []).find(({ type }) => type === 'Ready')?.lastTransitionTime;
}
