import v8 from 'node:v8';

/**
 * Lets the heap grow by a third at a time instead of up to fourfold. For work that makes much garbage
 * over little that stays: the engine would rather take memory than collect, and a cycle over thousands
 * of projects then takes twice the memory for nothing.
 */
export function keepHeapSmall(): void {
  v8.setFlagsFromString('--heap-growing-percent=33');
}
