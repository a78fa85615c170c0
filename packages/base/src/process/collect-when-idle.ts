import v8 from 'node:v8';
import vm from 'node:vm';
import { sleep, type Clock } from '../time/clock.ts';

/** What is looked at, and done. */
export interface ProcessMemory {
  residentBytes(): number;
  /** Processor time so far. */
  busyMs(): number;
  /** Collects everything that can be, and gives free pages back. */
  collect(): void;
}

const everyMs = 5_000;
/** A process is idle when it has used less of the time than this. */
const idleShare = 0.4;
/** Worth the tenth of a second that it takes. */
const growth = 1.1;

/**
 * Gives memory back after a burst of work. The engine keeps what a burst has left behind until more is
 * needed, which in a job that mostly waits is for good. Done only while it is idle, and only once for a
 * burst: when memory has grown since the last time.
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

/** With a way to give back what is free outside the engine's heap, where there is one. */
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
