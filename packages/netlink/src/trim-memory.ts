import koffi from 'koffi';

/** Returns the C library's unused memory to the kernel. Does nothing if the library is not glibc. */
export function trimMemory(): void {
  try {
    const trim = koffi.load(null).func('int malloc_trim(size_t pad)') as (pad: number) => number;
    trim(0);
  } catch {
    // The library has no such function.
  }
}
