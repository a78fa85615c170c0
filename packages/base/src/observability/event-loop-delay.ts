import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sleep, type Clock } from '../time/clock.ts';
import type { MetricDefinition, Metrics } from './metrics.ts';

const eventLoopDelay: MetricDefinition<'quantile'> = {
  kind: 'gauge',
  name: 'causeway_event_loop_delay_seconds',
  help: 'How late the event loop ran its timers in the last interval.',
  labels: ['quantile'],
};

const residentMemory: MetricDefinition = {
  kind: 'gauge',
  name: 'causeway_resident_memory_bytes',
  help: 'Memory that the process holds.',
  labels: [],
};

export const processMetrics = [eventLoopDelay, residentMemory];

/** Reports the event loop's delay and the process's memory until the signal fires. */
export async function watchProcess(
  clock: Clock,
  metrics: Metrics,
  signal: AbortSignal,
): Promise<void> {
  const delay = metrics.gauge(eventLoopDelay);
  const memory = metrics.gauge(residentMemory);
  const histogram = monitorEventLoopDelay({ resolution: 10 });
  histogram.enable();
  try {
    while (!signal.aborted) {
      await sleep(clock, 10_000, signal);
      delay.set({ quantile: '0.5' }, histogram.percentile(50) / 1e9);
      delay.set({ quantile: '0.99' }, histogram.percentile(99) / 1e9);
      delay.set({ quantile: '1' }, histogram.max / 1e9);
      memory.set({}, process.memoryUsage.rss());
      histogram.reset();
    }
  } finally {
    histogram.disable();
  }
}
