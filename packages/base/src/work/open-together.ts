/** Registers an opened resource and the function that closes it. */
export type Keep = <T>(opened: T, close: (opened: T) => void) => T;

/**
 * Opens several resources that are useful only together. If one fails to open, the earlier ones are closed in
 * reverse order. A device that stays open could not be created again.
 */
export function openTogether<T>(open: (keep: Keep) => T): T {
  const closers: (() => void)[] = [];
  try {
    return open((opened, close) => {
      closers.push(() => close(opened));
      return opened;
    });
  } catch (error) {
    for (const close of closers.reverse()) close();
    throw error;
  }
}
