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
 * Tells users what a controller did, as Events. The same words about the same object are one Event that
 * counts. An Event that cannot be written is only logged: it must never stop the work it speaks of.
 */
export class EventRecorder {
  readonly #setting: ControllerSetting;
  readonly #component: string;

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
      api.create('events', {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: {
          name: `${about.metadata.name}.${randomBytes(8).toString('hex')}`,
          namespace,
        },
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
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.debug({ error }, 'an event could not be recorded');
    }
  }

  #find(namespace: string, about: KubeObject, note: Note): KubeObject | undefined {
    return this.#setting.api.store.list('events', namespace).find((event) => {
      const involved = event['involvedObject'] as { uid?: string } | undefined;
      return (
        involved?.uid === about.metadata.uid &&
        event['reason'] === note.reason &&
        event['message'] === note.message
      );
    });
  }
}
