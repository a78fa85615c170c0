import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy, type Clock } from '@causeway/base/time/clock';
import { LineSplitter } from '@causeway/base/text/line-splitter';
import { startWork } from './yield-to-event-loop.ts';
import { KubeError } from '../client/error.ts';
import type { KubeObject } from '../objects/object.ts';
import { describe, type Call, type Requester } from '../client/requester.ts';
import type { TransportResponse } from '../client/transport.ts';
import { parseWatchEvent, type WatchEvent } from './watch-event.ts';

export type WatchStream<T extends KubeObject> = AsyncGenerator<
  readonly WatchEvent<T>[],
  void,
  undefined
>;

/** API servers send a bookmark each minute: 30 seconds later the connection counts as dead. */
const defaultIdleTimeoutMs = 90_000;

/** Events are parsed and delivered in batches of this size, with pauses in between. */
const batchSize = 64;

/** No object of a cluster is nearly this large: such data is not an event. */
const largestEvent = 64 * 1024 * 1024;

/** Opens a watch. Its events arrive in batches, until the server ends the watch or the connection breaks. */
export async function openWatch<T extends KubeObject>(
  requester: Requester,
  call: Call,
  signal: AbortSignal,
  idleTimeoutMs: () => number = () => defaultIdleTimeoutMs,
): Promise<WatchStream<T>> {
  const idleTimeout = new AbortController();
  const response = await requester.open(call, AbortSignal.any([signal, idleTimeout.signal]));
  return readWatch(response, describe(call), signal, idleTimeout, requester.clock, idleTimeoutMs);
}

async function* readWatch<T extends KubeObject>(
  response: TransportResponse,
  what: string,
  signal: AbortSignal,
  idleTimeout: AbortController,
  clock: Clock,
  idleTimeoutMs: () => number,
): WatchStream<T> {
  const watchdog = startWatchdog(clock, idleTimeoutMs, () => idleTimeout.abort());
  const splitter = new LineSplitter({
    bytes: largestEvent,
    tooLong: () => new KubeError('unavailable', `${what}: an event is over ${largestEvent} bytes`),
  });
  try {
    for await (const chunk of response.body) {
      watchdog.heard();
      const lines = splitter.push(chunk).filter((line) => line !== '');
      const yieldToEventLoop = startWork(clock);
      for (let index = 0; index < lines.length; index += batchSize) {
        yield* parseBatch<T>(what, lines.slice(index, index + batchSize));
        const pause = yieldToEventLoop();
        if (pause !== undefined) await pause;
      }
    }
    if (splitter.end() !== undefined) {
      throw new KubeError('unavailable', `${what}: the stream was cut inside an event`);
    }
  } catch (thrown) {
    if (signal.aborted) throw abortedBy(signal);
    if (!idleTimeout.signal.aborted) throw KubeError.fromTransport(what, thrown);
    throw new CausewayError('timeout', `${what}: nothing was received for ${idleTimeoutMs()} ms`);
  } finally {
    watchdog.stop();
  }
}

/** Events before an error in the same chunk are delivered before the error is thrown. */
function* parseBatch<T extends KubeObject>(
  what: string,
  lines: readonly string[],
): Generator<readonly WatchEvent<T>[], void, undefined> {
  const events: WatchEvent<T>[] = [];
  try {
    for (const line of lines) events.push(parseWatchEvent<T>(what, line));
  } finally {
    if (events.length > 0) yield events;
  }
}

/** Calls back after too long without data. Uses one timer for any amount of data. */
function startWatchdog(clock: Clock, limitMs: () => number, onIdle: () => void) {
  let heardAt = clock.monotonic();
  let timer = clock.timer(limitMs(), check);
  function check(): void {
    const restMs = heardAt + limitMs() - clock.monotonic();
    if (restMs <= 0) onIdle();
    else timer = clock.timer(restMs, check);
  }
  return {
    heard: () => (heardAt = clock.monotonic()),
    stop: () => timer.cancel(),
  };
}
