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

  /** The Event that said the same before, if it is still there. */
  #find(namespace: string, about: KubeObject, note: Note): KubeObject | undefined {
    const name = this.#names.get(wordsOf(about, note));
    return name === undefined ? undefined : this.#setting.api.store.get('events', namespace, name);
  }

  #remember(about: KubeObject, note: Note, name: string): void {
    // The oldest words are forgotten first: who repeats them then gets a new Event.
    const [oldest] = this.#names.keys();
    if (this.#names.size >= mostRemembered && oldest !== undefined) this.#names.delete(oldest);
    this.#names.set(wordsOf(about, note), name);
  }
}

const mostRemembered = 1_000;

function wordsOf({ metadata }: KubeObject, { reason, message }: Note): string {
  return `${metadata.uid} ${reason} ${message}`;
}
