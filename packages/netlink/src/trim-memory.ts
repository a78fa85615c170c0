import koffi from 'koffi';

/** Gives memory back that the C library keeps for later. Nothing where it is another one than glibc. */
export function trimMemory(): void {
  try {
    const trim = koffi.load(null).func('int malloc_trim(size_t pad)') as (pad: number) => number;
    trim(0);
  } catch {
    // It has no such function.
  }
}
