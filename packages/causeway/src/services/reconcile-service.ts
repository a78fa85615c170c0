import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import { hash } from 'node:crypto';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { OwnWrites } from '@causeway/kubernetes/cache/own-writes';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { Clock } from '@causeway/base/time/clock';
import {
  done,
  invalid,
  retryAfter,
  wait,
  type Outcome,
  type ReconcileContext,
} from '@causeway/base/work/controller';
import { ownerOf } from './frontend-from-service.ts';
import { unknownAnnotations } from './known-annotations.ts';
import { OnceEvents } from './once-events.ts';
import { planService, type Plan, type Providers } from './plan.ts';
import {
  ingressAddress,
  type EnsureOutcome,
  type Ingress,
  type ProviderContext,
} from './provider.ts';
import { formatRecord, recordAnnotation, type ServiceRecord } from './record.ts';
import {
  hasCondition,
  isServed,
  mergeIngress,
  saysServed,
  type ConditionText,
} from './service-status.ts';
import type { ServiceProvider } from './service-provider.ts';
import { OutdatedService, ServiceWriter } from './service-writer.ts';
import { whyNotDeleted } from './why-not-deleted.ts';

/** Records an Event on a Service. */
export type RecordEvent = (service: Service, reason: EventReason, message: string) => void;

export interface ServiceReconcilerOptions {
  readonly client: KubeClient;
  readonly find: (key: string) => Service | undefined;
  readonly ownWrites: OwnWrites<Service>;
  readonly providers: Providers;
  readonly recordEvent: RecordEvent;
  readonly clock: Clock;
}

/** A Service that waits for something. */
interface Wait {
  /** When the Service began to wait, for any reason. */
  readonly began: number;
  readonly message: string;
  /** When the Service began to wait for the reason in the message. */
  readonly since: number;
  /** Whether an Event with the message is recorded. */
  readonly isRecorded: boolean;
}

const defaultRetryMs = 5_000;
/** A wait longer than this is recorded as an Event. */
const eventAfterMs = 5_000;
/** A new Service that waits longer than this shows the wait in its status. Most waits are shorter. */
const statusAfterMs = 2_000;

type ServePlan = Extract<Plan, { kind: 'serve' }>;
type ReleasePlan = Extract<Plan, { kind: 'release' }>;

/** Reconciles one Service with its load balancer: reads, plans, acts. */
export class ServiceReconciler {
  readonly #options: ServiceReconcilerOptions;
  /**
   * Digests of the Services that were ensured. For an unchanged digest, only nodes or endpoints can have
   * changed.
   */
  readonly #ensured = new Map<string, string>();
  readonly #waits = new Map<string, Wait>();
  readonly #onceEvents = new OnceEvents();

  constructor(options: ServiceReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, context: ReconcileContext): Promise<Outcome> {
    try {
      return await this.#reconcile(key, context);
    } catch (error) {
      if (!(error instanceof OutdatedService)) throw error;
      // The change itself queues the Service again. The delay covers a missed change.
      return retryAfter(defaultRetryMs, error.message);
    }
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<Outcome> {
    const { client, clock, recordEvent, providers, ownWrites } = this.#options;
    const service = ownWrites.newest(key, this.#options.find(key));
    const unfinished = await this.#releaseDeletedOwners(key, service, context);
    if (unfinished !== undefined) return unfinished;
    if (service === undefined) {
      this.#ensured.delete(key);
      this.#waits.delete(key);
      this.#onceEvents.forget({ uid: key });
      return done;
    }
    const unknown = unknownAnnotations(service.metadata?.annotations ?? {});
    this.#onceEvents.record({ uid: key }, 'UnknownAnnotation', unknown, {
      recordEvent: (reason, message) => recordEvent(service, reason, message),
    });
    const plan = planService(service, providers);
    // A release continues with the next reconcile, which the echo of a write starts.
    const echoes = plan.kind === 'release' ? 'reconcile' : 'ignore';
    const { signal } = context;
    const writer = new ServiceWriter({ client, clock, ownWrites, signal, echoes }, service);
    switch (plan.kind) {
      case 'ignore':
        return done;
      case 'hold':
        recordEvent(service, plan.reason, plan.message);
        return invalid(plan.message);
      case 'serve':
        return this.#serve(writer, plan, context);
      case 'release':
        return this.#release(writer, plan, this.#contextFor(writer, plan.record, context));
    }
  }

  #contextFor(
    writer: ServiceWriter,
    record: ServiceRecord,
    context: ReconcileContext,
  ): ProviderContext {
    return {
      signal: context.signal,
      log: context.log,
      annotate: (annotations, { spec, ingress } = {}) => {
        if (ingress === undefined) return writer.annotate(annotations, spec);
        const recorded = formatRecord(withIngress(record, ingress));
        return writer.annotate({ ...annotations, [recordAnnotation]: recorded }, spec);
      },
      recordEvent: (reason, message) => this.#options.recordEvent(writer.current, reason, message),
    };
  }

  /** Deletes the load balancers of a Service that was deleted, or replaced by another with the same name. */
  async #releaseDeletedOwners(
    key: string,
    service: Service | undefined,
    context: ReconcileContext,
  ): Promise<Outcome | undefined> {
    const detached = { ...context, annotate: () => Promise.resolve(), recordEvent: () => {} };
    for (const provider of this.#options.providers.all) {
      for (const owner of provider.ownersNamed(key)) {
        if (owner.uid === service?.metadata?.uid) continue;
        const doubt = await whyNotDeleted(this.#options.client, owner, context.signal);
        if (doubt !== undefined) {
          context.log.warn({ owner }, doubt);
          return retryAfter(defaultRetryMs, doubt);
        }
        const outcome = await provider.ensureDeleted(owner, detached);
        if (outcome.kind === 'gone') continue;
        return retryAfter(outcome.retryAfterMs ?? defaultRetryMs, outcome.message);
      }
    }
    return undefined;
  }

  async #serve(
    writer: ServiceWriter,
    plan: ServePlan,
    reconcile: ReconcileContext,
  ): Promise<Outcome> {
    const { provider } = plan;
    const owner = ownerOf(writer.current);
    const record = plan.record ?? { uid: owner.uid, provider: provider.name, ingress: [] };
    const context = this.#contextFor(writer, record, reconcile);
    // The record and the finalizers are written first, so that every object outside the cluster is cleaned up
    // later.
    await writer.writeRecord(provider, record);
    if (plan.record === undefined) {
      context.recordEvent(
        'EnsuringLoadBalancer',
        `The provider ${provider.name} serves the Service from now on`,
      );
    }
    const outcome = await this.#ensure(writer, provider, context);
    const waitsFor = outcome.kind === 'pending' ? outcome.message : undefined;
    const waitedMs = this.#noteWait(keyOf(writer.current), waitsFor, context);
    const untilWrittenMs = statusAfterMs - waitedMs;
    // If the address arrives soon, the address and the condition of a new Service go into its status in one
    // write.
    if (outcome.kind === 'pending' && untilWrittenMs > 0 && !hasCondition(writer.current)) {
      const retryAfterMs = Math.min(outcome.retryAfterMs ?? untilWrittenMs, untilWrittenMs);
      return retryAfter(retryAfterMs, outcome.message);
    }
    return writeOutcome(writer, provider, record, outcome, context);
  }

  /** Records an Event for a Service that waits for long. Returns how long it has waited. */
  #noteWait(key: string, message: string | undefined, context: ProviderContext): number {
    const now = this.#options.clock.monotonic();
    const before = this.#waits.get(key);
    if (message === undefined) {
      this.#waits.delete(key);
      return 0;
    }
    const began = before?.began ?? now;
    if (before?.message !== message) {
      this.#waits.set(key, { began, message, since: now, isRecorded: false });
    } else if (!before.isRecorded && now - before.since >= eventAfterMs) {
      context.recordEvent('LoadBalancerPending', message);
      this.#waits.set(key, { ...before, isRecorded: true });
    }
    return now - began;
  }

  async #ensure(
    writer: ServiceWriter,
    provider: ServiceProvider,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    const key = keyOf(writer.current);
    const isKnown = this.#ensured.get(key) === desiredOf(writer.current);
    try {
      const outcome = isKnown
        ? await provider.update(writer.current, context)
        : await provider.ensure(writer.current, context);
      const isComplete = outcome.kind === 'ready' && outcome.missing === undefined;
      if (isComplete) this.#ensured.set(key, desiredOf(writer.current));
      else this.#ensured.delete(key);
      return outcome;
    } catch (error) {
      this.#ensured.delete(key);
      await reportFailure(
        writer,
        context,
        isKnown ? 'UpdateLoadBalancerFailed' : 'SyncLoadBalancerFailed',
        CausewayError.from(error),
      );
      throw error;
    }
  }

  async #release(
    writer: ServiceWriter,
    plan: ReleasePlan,
    context: ProviderContext,
  ): Promise<Outcome> {
    const { provider, record, because } = plan;
    this.#ensured.delete(keyOf(writer.current));
    context.recordEvent('DeletingLoadBalancer', `Released: ${because}`);
    let outcome;
    try {
      outcome = await provider.ensureDeleted(ownerOf(writer.current), context);
    } catch (error) {
      await reportFailure(writer, context, 'DeleteLoadBalancerFailed', CausewayError.from(error));
      throw error;
    }
    const waitsFor = outcome.kind === 'pending' ? outcome.message : undefined;
    this.#noteWait(keyOf(writer.current), waitsFor, context);
    if (outcome.kind === 'pending') {
      if (outcome.leavesStatus === true) await leaveStatus(writer, plan, outcome.message);
      return retryAfter(outcome.retryAfterMs ?? defaultRetryMs, outcome.message);
    }
    if (because !== 'deleted') {
      await writer.writeStatus(mergeIngress(writer.current, record.ingress, []), undefined);
    }
    context.recordEvent('DeletedLoadBalancer', 'The load balancer is removed');
    await writer.removeRecord(provider);
    return done;
  }
}

async function writeOutcome(
  writer: ServiceWriter,
  provider: ServiceProvider,
  record: ServiceRecord,
  outcome: EnsureOutcome,
  context: ProviderContext,
): Promise<Outcome> {
  switch (outcome.kind) {
    case 'ready': {
      const { missing, note, retryAfterMs } = outcome;
      const message = describe(outcome.ingress, missing);
      const text = note === undefined ? message : `${message.replace(/\.$/, '')}. ${note}`;
      const condition: ConditionText = { status: 'True', reason: 'Served', message: text };
      const isNew = !saysServed(writer.current, message);
      await publish(writer, provider, record, outcome.ingress, condition);
      if (isNew) context.recordEvent('EnsuredLoadBalancer', message);
      return retryAfterMs === undefined ? done : retryAfter(retryAfterMs, missing ?? message);
    }
    case 'pending': {
      const { message, retryAfterMs, ingress, isFailing = false } = outcome;
      const reason = isFailing ? 'NotServed' : 'Pending';
      const condition: ConditionText = { status: 'False', reason, message };
      // A served Service keeps its condition while a change is on its way to the gateways, or while a
      // controller starts.
      if (isFailing || !isServed(writer.current, record.ingress, ingress)) {
        await publish(
          writer,
          provider,
          record,
          ingress,
          condition,
          shownOf(writer.current, ingress),
        );
      }
      return retryAfterMs === undefined ? wait(message) : retryAfter(retryAfterMs, message);
    }
    case 'refused': {
      const { reason, message, retryAfterMs } = outcome;
      context.recordEvent(reason, message);
      await writer.writeStatus(undefined, { status: 'False', reason, message });
      return retryAfterMs === undefined ? invalid(message) : retryAfter(retryAfterMs, message);
    }
  }
}

/**
 * The record has an address before the status shows it, and until the status no longer shows it. So the
 * record always names every address of Causeway in the status.
 */
async function publish(
  writer: ServiceWriter,
  provider: ServiceProvider,
  record: ServiceRecord,
  ingress: readonly Ingress[] | undefined,
  condition: ConditionText,
  /** The addresses for the status; without those that the provider has assigned and not confirmed. */
  shown = ingress ?? [],
): Promise<void> {
  const isOurs = provider.statusWriter(writer.current) === 'controller';
  if (!isOurs || ingress === undefined) return writer.writeStatus(undefined, condition);
  await writer.writeRecord(provider, withIngress(record, ingress));
  const merged = mergeIngress(writer.current, [...record.ingress, ...ingress], shown);
  await writer.writeStatus(merged, condition);
  await writer.writeRecord(provider, { ...record, ingress });
}

/** The entries that the status shows already. The others wait for the confirmation of the provider. */
function shownOf(service: Service, ingress: readonly Ingress[] | undefined): readonly Ingress[] {
  const present = service.status?.loadBalancer?.ingress ?? [];
  const addresses = new Set(present.map(({ ip, hostname }) => ip ?? hostname));
  return (ingress ?? []).filter((entry) => addresses.has(ingressAddress(entry)));
}

/** The record with the addresses that the status will show, and those that it may still show. */
function withIngress(record: ServiceRecord, ingress: readonly Ingress[]): ServiceRecord {
  const wanted = new Set(ingress.map(ingressAddress));
  const leaving = record.ingress.filter((entry) => !wanted.has(ingressAddress(entry)));
  return { ...record, ingress: [...leaving, ...ingress] };
}

/**
 * Removes all addresses of Causeway from the status. DNS names must not point to an address that another
 * Service gets next.
 */
async function leaveStatus(
  writer: ServiceWriter,
  { provider, record }: ReleasePlan,
  message: string,
): Promise<void> {
  const held = provider.get(ownerOf(writer.current)) ?? [];
  const others = mergeIngress(writer.current, [...record.ingress, ...held], []);
  await writer.writeStatus(others, { status: 'False', reason: 'Released', message });
}

/** Reports a failure on the Service. Never throws, because that would hide the reported failure. */
async function reportFailure(
  writer: ServiceWriter,
  context: ProviderContext,
  reason: EventReason,
  error: CausewayError,
): Promise<void> {
  if (error.code === 'aborted' || error instanceof OutdatedService) return;
  const message = error.hint === undefined ? error.message : `${error.message}. ${error.hint}`;
  context.recordEvent(reason, message);
  try {
    await writer.writeStatus(undefined, { status: 'False', reason, message });
  } catch (second) {
    context.log.warn(
      { error: CausewayError.from(second) },
      'could not write the failure to the status',
    );
  }
}

/** A digest of the user's input: the spec and the annotations, without Causeway's own record. */
function desiredOf(service: Service): string {
  const { [recordAnnotation]: _ours, ...annotations } = service.metadata?.annotations ?? {};
  return hash('sha256', JSON.stringify([service.spec, annotations]), 'base64');
}

function describe(ingress: readonly Ingress[], missing: string | undefined): string {
  const addresses = ingress.map(ingressAddress).join(', ');
  const served = ingress.length === 0 ? 'Served' : `Served on ${addresses}`;
  return missing === undefined ? served : `${served}. ${missing}`;
}
