/** Lets other work of the event loop run. For use between the parts of long work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
