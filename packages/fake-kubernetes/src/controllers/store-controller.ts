import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@causeway/base/time/clock';
import { runController, type Outcome } from '@causeway/base/work/controller';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { WorkQueue } from '@causeway/base/work/work-queue';
import type { ClusterApi } from '../cluster-api.ts';
import type { KubeObject } from '../object.ts';
import type { GroupResource } from '../resource-definition.ts';
import type { Change, ObjectStore } from '../store.ts';

export interface ControllerSetting {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * A controller of a live cluster. It gets keys, reads the store, which is never stale, and writes through the
 * API, which returns synchronously. No other write happens during a reconcile.
 */
export interface StoreController {
  readonly name: string;
  /** Maps a changed object of a resource to keys. Existing objects count as added. */
  readonly watches?: Readonly<Record<GroupResource, (change: Change) => Iterable<string>>>;
  /** The same for controllers that watch every served resource. */
  follows?(resource: GroupResource, change: Change): Iterable<string>;
  /** Called before the first reconcile, with a function that adds keys for reasons outside the store. */
  onStart?(add: (key: string) => void): void;
  reconcile(key: string, signal: AbortSignal): Outcome | Promise<Outcome>;
}

const deadlineMs = 60_000;

export async function runStoreController(
  setting: ControllerSetting,
  controller: StoreController,
  signal: AbortSignal,
): Promise<void> {
  const { api, clock, log, metrics } = setting;
  const queue = new WorkQueue<string>({ clock });
  const subscriptions = subscribe(api.store, controller, (keys) => {
    for (const key of keys) queue.add(key);
  });
  controller.onStart?.((key) => queue.add(key));
  try {
    await runController(
      {
        name: controller.name,
        queue,
        workers: 1,
        deadlineMs,
        clock,
        log,
        metrics,
        async reconcile(key, context) {
          // Reconciles are synchronous. Between two of them, other tasks run on the event loop.
          await nextTurn();
          return controller.reconcile(key, context.signal);
        },
      },
      signal,
    );
  } finally {
    for (const subscription of subscriptions) subscription.close();
  }
}

function subscribe(
  store: ObjectStore,
  controller: StoreController,
  add: (keys: Iterable<string>) => void,
): readonly { close(): void }[] {
  const present = (resource: GroupResource): Change[] =>
    store.list(resource).map((object) => ({ type: 'ADDED', version: store.version, object }));
  const watches = Object.entries(controller.watches ?? {}).map(([resource, keysOf]) => {
    for (const change of present(resource)) add(keysOf(change));
    return store.watch(resource, store.version, (change) => add(keysOf(change)));
  });
  if (controller.follows === undefined) return watches;
  const follow = (resource: GroupResource, change: Change) =>
    add(controller.follows?.(resource, change) ?? []);
  for (const resource of store.resources()) {
    for (const change of present(resource)) follow(resource, change);
  }
  return [...watches, store.follow(follow)];
}

/** `namespace/name`, or only the name for cluster-scoped objects. */
export function keyOf({ metadata }: KubeObject): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}

export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

export function* ownKey({ object }: Change): Iterable<string> {
  yield keyOf(object);
}

/** The keys of the object's current and previous controller of this kind. */
export function controllerKey(kind: string): (change: Change) => Iterable<string> {
  return function* keys({ object, previous }) {
    for (const one of [object, previous]) {
      const owner = one?.metadata.ownerReferences?.find(({ controller }) => controller === true);
      if (owner?.kind === kind) yield `${one?.metadata.namespace ?? ''}/${owner.name}`;
    }
  };
}

/** The owner reference of objects that a controller creates. */
export function controllerReference(owner: KubeObject) {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
