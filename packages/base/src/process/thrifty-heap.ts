import v8 from 'node:v8';

/**
 * Lets the heap grow by a third at a time instead of up to fourfold. For work that makes much garbage
 * over little that stays: the engine would rather take memory than collect, and a cycle over thousands
 * of projects then takes twice the memory for nothing.
 */
export function keepHeapSmall(): void {
  v8.setFlagsFromString('--heap-growing-percent=33');
}

/**
 * Also keeps the space for new objects at the size it starts with, instead of letting one burst make it
 * 32 times as large for good. For jobs that are bounded in memory and mostly wait: what a burst leaves
 * behind is collected a little later and more often.
 */
export function keepBurstsSmall(): void {
  keepHeapSmall();
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Leaves the engine's two optimizing compilers out: they, what they need while they work and what they
 * make take 10 MB. For a job whose requests are few and cheap: planning a change takes a seventh more of
 * the processor (0.19 ms instead of 0.17). Call it before much is loaded.
 */
export function compileUncached(): void {
  v8.setFlagsFromString('--no-opt');
  v8.setFlagsFromString('--no-maglev');
}
