/** Notes what is open, and how it is closed. */
export type Keep = <T>(opened: T, close: (opened: T) => void) => T;

/**
 * Opens several things that are of use only together: when one can't be opened, those before it are
 * closed, last first. A device that stays open could not be made again.
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
