import v8 from 'node:v8';
import vm from 'node:vm';
import { sleep, type Clock } from '../time/clock.ts';

/** The measurements and the action of `collectWhenIdle`. */
export interface ProcessMemory {
  residentBytes(): number;
  /** CPU time so far. */
  busyMs(): number;
  /** Collects all garbage and returns free pages to the system. */
  collect(): void;
}

const everyMs = 5_000;
/** A process is idle if it used less than this share of the CPU. */
const idleShare = 0.4;
/** A collection takes a tenth of a second, so it runs only after memory has grown by this factor. */
const growth = 1.1;

/**
 * Frees memory after a burst of work. V8 keeps the garbage of a burst until it needs more memory, which may
 * never happen in a process that mostly waits. Collects only while the process is idle, and once per burst:
 * after memory has grown since the last collection.
 */
export async function collectWhenIdle(
  clock: Clock,
  signal: AbortSignal,
  memory: ProcessMemory = ownMemory(),
): Promise<void> {
  let kept = 0;
  while (!signal.aborted) {
    const [busyBefore, started] = [memory.busyMs(), clock.monotonic()];
    await sleep(clock, everyMs, signal);
    const share = (memory.busyMs() - busyBefore) / (clock.monotonic() - started);
    if (share > idleShare || memory.residentBytes() < kept * growth) continue;
    memory.collect();
    kept = memory.residentBytes();
  }
}

/** `giveBack` returns free memory outside of the V8 heap to the system. */
export function ownMemory(giveBack: () => void = () => {}): ProcessMemory {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as (options: object) => void;
  return {
    residentBytes: () => process.memoryUsage.rss(),
    busyMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    collect: () => {
      collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
      giveBack();
    },
  };
}
