import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Endpoints, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import { keyOf, nameFromKey } from '@causeway/kubernetes/objects/object';
import { endpoints, services } from '@causeway/kubernetes/objects/resources';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { annotationsOf, hasIdledAt, idledAt, parseTargets, unidleTargets } from './annotations.ts';
import type { Waker } from './waker.ts';

export interface LegacyMarksOptions {
  readonly client: KubeClient;
  readonly waker: Waker;
  readonly find: (key: string) => Service | undefined;
  readonly recordEvent: (service: Service, content: EventContent) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Watching all Endpoints for such a rare mark would cost too much. */
const everyMs = 300_000;

/**
 * A very old `oc` marks only the Endpoints, which no proxy reads. The controller copies such a mark to the
 * Service if the targets really have no replicas. Otherwise, it is left over from a wake-up.
 */
export class LegacyMarks {
  readonly #options: LegacyMarksOptions;

  constructor(options: LegacyMarksOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.repair(signal);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        if (signal.aborted) throw error;
        log.warn({ error }, 'could not check for Services that an old oc has put to sleep');
      }
      await sleep(clock, everyMs, signal);
    }
  }

  /** A mark that can't be repaired is logged and does not block the others. */
  async repair(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    for await (const marked of this.#options.client.list(endpoints, { signal })) {
      if (!hasIdledAt(marked) || hasAddress(marked)) continue;
      const service = this.#options.find(keyOf(marked));
      if (service === undefined || hasIdledAt(service)) continue;
      try {
        await this.#copy(marked, service, signal);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        if (signal.aborted) throw error;
        log.warn({ service: keyOf(marked), error }, 'the mark of an old oc could not be repaired');
      }
    }
  }

  async #copy(marked: Endpoints, service: Service, signal: AbortSignal): Promise<void> {
    const { client, waker, recordEvent } = this.#options;
    const name = nameFromKey(keyOf(marked));
    const parsed = parseTargets(annotationsOf(marked)[unidleTargets]);
    const targets = parsed.ok ? parsed.targets : [];
    if (targets.length === 0) return;
    if (!(await waker.areAllAsleep(name.namespace ?? '', targets, signal))) return;
    const { [idledAt]: time, [unidleTargets]: text } = annotationsOf(marked);
    const metadata = {
      resourceVersion: service.metadata?.resourceVersion,
      annotations: { [idledAt]: time, [unidleTargets]: text },
    };
    await client.patchMerge(services, name, { metadata }, { signal });
    const message =
      'An old oc marked only the Endpoints of the Service as idle. The mark is on the Service now, so that connections wake the Service.';
    recordEvent(service, { reason: 'IdleMarkRepaired', message });
  }
}

function hasAddress({ subsets }: Endpoints): boolean {
  return subsets?.some(({ addresses }) => (addresses ?? []).length > 0) === true;
}
