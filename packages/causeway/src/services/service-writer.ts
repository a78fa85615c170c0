import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf, nameFromKey } from '@causeway/kubernetes/objects/object';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { services } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import { cleanupFinalizer, wantedFinalizers } from './plan.ts';
import type { Annotations, LoadBalancerProvider, SpecChange } from './provider.ts';
import { formatRecord, recordAnnotation, type ServiceRecord } from './record.ts';
import {
  sameIngress,
  statusChange,
  type ConditionText,
  type PresentIngress,
} from './service-status.ts';

const fieldManager = 'causeway-controller';

/** Somebody has changed the Service since it was read: nobody's fault, and decided anew from what it is now. */
export class OutdatedService extends CausewayError {}

/**
 * A Service during one reconciliation, and what we write to it. Each write names the version it is
 * based on and is refused with a conflict when somebody else has changed the Service since; the next
 * look decides anew. Nothing is written that is there already.
 */
export class ServiceWriter {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #current: Service;

  constructor(client: KubeClient, clock: Clock, service: Service, signal: AbortSignal) {
    this.#client = client;
    this.#clock = clock;
    this.#current = service;
    this.#signal = signal;
  }

  /** The Service as it is after our own writes. */
  get current(): Service {
    return this.#current;
  }

  async writeRecord(provider: LoadBalancerProvider, record: ServiceRecord): Promise<void> {
    const present = this.#current.metadata?.finalizers ?? [];
    const missing = wantedFinalizers(this.#current, provider).filter(
      (name) => !present.includes(name),
    );
    await this.#patchMetadata(
      { [recordAnnotation]: formatRecord(record) },
      missing.length === 0 ? undefined : [...present, ...missing],
    );
  }

  async removeRecord(provider: LoadBalancerProvider): Promise<void> {
    const ours = new Set([cleanupFinalizer, provider.finalizer]);
    const present = this.#current.metadata?.finalizers ?? [];
    const remaining = present.filter((name) => !ours.has(name));
    await this.#patchMetadata(
      { [recordAnnotation]: null },
      remaining.length === present.length ? undefined : remaining,
    );
  }

  /** Sets annotations; null removes one. With a change of the spec it is one write. */
  async annotate(annotations: Annotations, spec?: SpecChange): Promise<void> {
    if (spec === undefined) await this.#patchMetadata(annotations, undefined);
    else await this.#patch({ metadata: { annotations }, spec }, undefined);
  }

  /** Whether the addresses in the status have changed by it. */
  async writeStatus(
    ingress: readonly PresentIngress[] | undefined,
    condition: ConditionText | undefined,
  ): Promise<boolean> {
    const before = this.#current.status;
    const now = new Date(this.#clock.wallTime()).toISOString();
    const status = statusChange(this.#current, { ingress, condition }, now);
    if (status === undefined) return false;
    await this.#patch({ status }, 'status');
    return ingress !== undefined && !sameIngress(before?.loadBalancer?.ingress ?? [], ingress);
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

  async #patch(
    patch: { readonly metadata?: object; readonly spec?: object; readonly status?: object },
    subresource: 'status' | undefined,
  ): Promise<void> {
    const { resourceVersion, uid } = this.#current.metadata ?? {};
    try {
      const written = await this.#client.patchMerge(
        services,
        nameFromKey(keyOf(this.#current)),
        { ...patch, metadata: { resourceVersion, uid, ...patch.metadata } },
        {
          signal: this.#signal,
          fieldManager,
          ...(subresource === undefined ? {} : { subresource }),
        },
      );
      this.#current = withSlimMetadata(written);
    } catch (error) {
      if (!isErrorCode(error, 'conflict')) throw error;
      throw new OutdatedService('conflict', 'the Service was changed meanwhile', { cause: error });
    }
  }
}
