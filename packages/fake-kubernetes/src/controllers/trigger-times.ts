import type { Pod } from '../resources/pod/pod-type.ts';
import type { Service } from '../resources/service/service-type.ts';
import { keyOf } from './store-controller.ts';

interface Seen {
  readonly service: string;
  readonly pods: ReadonlyMap<string, string>;
}

/**
 * When the change happened that endpoints are updated for: the earliest of the changes of readiness, and
 * of the Service's creation, that had not been seen before. A pod that leaves is no such change.
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

  /** Lets go of a Service that is no more. */
  forget(key: string): void {
    this.#seen.delete(key);
  }
}

function readySince({ status }: Pod): string | null | undefined {
  return (status?.conditions ?? []).find(({ type }) => type === 'Ready')?.lastTransitionTime;
}
