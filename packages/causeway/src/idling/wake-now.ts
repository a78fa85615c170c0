import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { ObjectName } from '@causeway/kubernetes/objects/object';
import { endpoints, services } from '@causeway/kubernetes/objects/resources';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { annotationsOf, hasIdledAt, idledAt, type UnidleTarget } from './annotations.ts';
import { hasLastingEndpoint } from './ready-endpoints.ts';
import { targetsOf, type Started, type Waker } from './waker.ts';

export interface WakeNowOptions {
  readonly client: KubeClient;
  readonly waker: Waker;
  readonly clock: Clock;
  /** The timeout for the first ready endpoint. */
  readonly timeoutMs: number;
}

export interface WakeResult extends Started {
  readonly wasAsleep: boolean;
}

/** Wakes one Service and waits for it, on request of a user. */
export async function wakeNow(
  options: WakeNowOptions,
  name: ObjectName,
  signal: AbortSignal,
): Promise<WakeResult> {
  const { client, waker } = options;
  const full = `Service ${name.namespace ?? ''}/${name.name}`;
  const service = await client.get(services, name, { signal });
  const current = await client.find(endpoints, name, { signal });
  if (!hasIdledAt(service) && !hasIdledAt(current)) {
    return { wasAsleep: false, started: [], running: [], missing: [], failed: [] };
  }
  const parsed = targetsOf(service, current);
  if (!parsed.ok) throw new CausewayError('invalid', `${full}: ${parsed.problem}`);
  const result = await waker.start(name.namespace ?? '', parsed.targets, signal);
  if (result.failed[0] !== undefined) throw result.failed[0].error;
  if (result.started.length + result.running.length > 0) await untilReady(options, name, signal);
  await finish(options, name, { service, targets: parsed.targets }, signal);
  return { wasAsleep: true, ...result };
}

async function untilReady(options: WakeNowOptions, name: ObjectName, signal: AbortSignal) {
  const { client, clock, timeoutMs } = options;
  const giveUpAt = clock.monotonic() + timeoutMs;
  for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 2_000)) {
    if (await hasLastingEndpoint(client, name, signal)) return;
    if (clock.monotonic() + delayMs > giveUpAt) {
      throw new CausewayError(
        'timeout',
        `Service ${name.namespace ?? ''}/${name.name} was scaled up, but none of its pods became ready`,
        {
          hint: 'Check the pods. The Service stays marked as idle, and connections wait, until a pod is ready.',
        },
      );
    }
    await sleep(clock, delayMs, signal);
  }
}

/**
 * A conflicting write is no reason to give up. A Service that another program idled again or woke in the
 * meantime is left to that program.
 */
async function finish(
  { client, waker }: WakeNowOptions,
  name: ObjectName,
  { service: before, targets }: { service: Service; targets: readonly UnidleTarget[] },
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const service = await client.get(services, name, { signal });
    if (annotationsOf(service)[idledAt] !== annotationsOf(before)[idledAt]) return;
    try {
      await waker.finish(service, targets, signal);
      return;
    } catch (error) {
      if (!isErrorCode(error, 'conflict') || tries >= 5) throw error;
    }
  }
}
