import { randomBytes } from 'node:crypto';
import type { KubeObject } from '../object.ts';
import { ApiError } from '../status.ts';
import type { ControllerSetting } from './store-controller.ts';
import { now } from './timestamp.ts';

interface Note {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/**
 * Records controller actions as Events. Repeated messages about an object increase the count of one Event. A
 * failed write of an Event is only logged, because it must not stop the controller.
 */
export class EventRecorder {
  readonly #setting: ControllerSetting;
  readonly #component: string;
  readonly #names = new Map<string, string>();

  constructor(setting: ControllerSetting, component: string) {
    this.#setting = setting;
    this.#component = component;
  }

  record(about: KubeObject, note: Note): void {
    const { api, clock, log } = this.#setting;
    const namespace = about.metadata.namespace ?? 'default';
    const time = now(clock);
    const known = this.#find(namespace, about, note);
    try {
      if (known !== undefined) {
        const count = (typeof known['count'] === 'number' ? known['count'] : 1) + 1;
        api.update('events', { ...structuredClone(known), count, lastTimestamp: time });
        return;
      }
      const name = `${about.metadata.name}.${randomBytes(8).toString('hex')}`;
      api.create('events', {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace },
        involvedObject: {
          apiVersion: about.apiVersion,
          kind: about.kind,
          name: about.metadata.name,
          namespace: about.metadata.namespace,
          uid: about.metadata.uid,
          resourceVersion: about.metadata.resourceVersion,
        },
        ...note,
        source: { component: this.#component },
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
        reportingComponent: this.#component,
      });
      this.#remember(about, note, name);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.debug({ error }, 'an event could not be recorded');
    }
  }

  /** The existing Event with the same message, if any. */
  #find(namespace: string, about: KubeObject, note: Note): KubeObject | undefined {
    const name = this.#names.get(wordsOf(about, note));
    return name === undefined ? undefined : this.#setting.api.store.get('events', namespace, name);
  }

  #remember(about: KubeObject, note: Note, name: string): void {
    // Drops the oldest entry first. If its message is repeated later, a new Event is created.
    const [oldest] = this.#names.keys();
    if (this.#names.size >= mostRemembered && oldest !== undefined) this.#names.delete(oldest);
    this.#names.set(wordsOf(about, note), name);
  }
}

const mostRemembered = 1_000;

function wordsOf({ metadata }: KubeObject, { reason, message }: Note): string {
  return `${metadata.uid} ${reason} ${message}`;
}
