import v8 from 'node:v8';

/**
 * Lets the heap grow by a third at a time instead of up to fourfold. For work with much garbage and little
 * live data: V8 prefers more memory over collections, and a cycle over thousands of projects takes twice the
 * memory.
 */
export function keepHeapSmall(): void {
  v8.setFlagsFromString('--heap-growing-percent=33');
}

/**
 * Also keeps the space for new objects at its initial size. Otherwise one burst makes it 32 times as large
 * for good. For processes with bounded memory that mostly wait: garbage of a burst is collected a little
 * later and more often.
 */
export function keepBurstsSmall(): void {
  keepHeapSmall();
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Turns off V8's two optimizing compilers. The compilers, their working memory and their output take 10 MB.
 * For processes with few and cheap requests: planning a change takes a seventh more CPU time (0.19 ms instead
 * of 0.17). Call it before much code is loaded.
 */
export function compileUncached(): void {
  v8.setFlagsFromString('--no-opt');
  v8.setFlagsFromString('--no-maglev');
}
