import { isDeepStrictEqual } from 'node:util';
import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf, nameFromKey } from '@causeway/kubernetes/objects/object';
import type { OwnWrites } from '@causeway/kubernetes/cache/own-writes';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { services } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import { cleanupFinalizer, wantedFinalizers } from './plan.ts';
import type { Annotations, SpecChange } from './provider.ts';
import type { ServiceProvider } from './service-provider.ts';
import { formatRecord, recordAnnotation, type ServiceRecord } from './record.ts';
import { statusChange, type ConditionText, type PresentIngress } from './service-status.ts';

const fieldManager = 'causeway-controller';

/** Another program changed the Service since it was read. The next reconcile decides from its new state. */
export class OutdatedService extends CausewayError {}

export interface ServiceWriterOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly ownWrites: OwnWrites<Service>;
  readonly signal: AbortSignal;
  /** Whether the watch events that the writes cause start another reconcile. */
  readonly echoes: 'reconcile' | 'ignore';
}

interface Patch {
  readonly metadata?: {
    readonly annotations?: Annotations;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: object;
  readonly status?: object;
}

/**
 * A Service during one reconcile, and the controller's writes to it. Each write names the version it is based
 * on; the API rejects it with a conflict if another program has changed the Service since. The writer skips a
 * write that would change nothing.
 */
export class ServiceWriter {
  readonly #options: ServiceWriterOptions;
  #current: Service;

  constructor(options: ServiceWriterOptions, service: Service) {
    this.#options = options;
    this.#current = service;
  }

  /** The Service after the controller's own writes. */
  get current(): Service {
    return this.#current;
  }

  async writeRecord(provider: ServiceProvider, record: ServiceRecord): Promise<void> {
    const present = this.#current.metadata?.finalizers ?? [];
    const missing = wantedFinalizers(this.#current, provider).filter(
      (name) => !present.includes(name),
    );
    await this.#patchMetadata(
      { [recordAnnotation]: formatRecord(record) },
      missing.length === 0 ? undefined : [...present, ...missing],
    );
  }

  async removeRecord(provider: ServiceProvider): Promise<void> {
    const ours = new Set([cleanupFinalizer, provider.finalizer]);
    const present = this.#current.metadata?.finalizers ?? [];
    const remaining = present.filter((name) => !ours.has(name));
    await this.#patchMetadata(
      { [recordAnnotation]: null },
      remaining.length === present.length ? undefined : remaining,
    );
  }

  /** Sets annotations; null removes one. A change of the spec goes into the same write. */
  async annotate(annotations: Annotations, spec?: SpecChange): Promise<void> {
    if (spec === undefined) await this.#patchMetadata(annotations, undefined);
    else await this.#patch({ metadata: { annotations }, spec }, undefined);
  }

  async writeStatus(
    ingress: readonly PresentIngress[] | undefined,
    condition: ConditionText | undefined,
  ): Promise<void> {
    const now = new Date(this.#options.clock.wallTime()).toISOString();
    const status = statusChange(this.#current, { ingress, condition }, now);
    if (status !== undefined) await this.#patch({ status }, 'status');
  }

  async #patchMetadata(
    annotations: Annotations,
    finalizers: readonly string[] | undefined,
  ): Promise<void> {
    const present = this.#current.metadata?.annotations ?? {};
    const isWritten = Object.entries(annotations).every(
      ([name, value]) => (present[name] ?? null) === value,
    );
    if (isWritten && finalizers === undefined) return;
    const change = finalizers === undefined ? { annotations } : { annotations, finalizers };
    await this.#patch({ metadata: change }, undefined);
  }

  async #patch(patch: Patch, subresource: 'status' | undefined): Promise<void> {
    const { client, ownWrites, signal, echoes } = this.#options;
    const before = this.#current;
    const key = keyOf(before);
    const { resourceVersion, uid } = before.metadata ?? {};
    const body = { ...patch, metadata: { resourceVersion, uid, ...patch.metadata } };
    const options = { signal, fieldManager, ...(subresource === undefined ? {} : { subresource }) };
    try {
      this.#current = await ownWrites.write(
        key,
        async () =>
          withSlimMetadata(await client.patchMerge(services, nameFromKey(key), body, options)),
        (written) => echoes === 'ignore' && isAsAsked(before, patch, written),
      );
    } catch (error) {
      if (!isErrorCode(error, 'conflict')) throw error;
      throw new OutdatedService(
        'conflict',
        'another program changed the Service since it was read',
        {
          cause: error,
        },
      );
    }
  }
}

/** Whether the API stored the patch alone. An admission webhook can change more, such as the spec. */
function isAsAsked(before: Service, patch: Patch, written: Service): boolean {
  if (patch.spec !== undefined) return false;
  const wanted = { ...before.metadata?.annotations, ...patch.metadata?.annotations };
  const kept = Object.entries(wanted).filter(([, value]) => value !== null);
  return (
    written.metadata?.deletionTimestamp === before.metadata?.deletionTimestamp &&
    isDeepStrictEqual(written.spec, before.spec) &&
    isDeepStrictEqual(written.metadata?.annotations ?? {}, Object.fromEntries(kept))
  );
}
