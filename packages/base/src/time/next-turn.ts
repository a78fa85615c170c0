/** Lets whatever else waits for the event loop run before going on. For long work, between its parts. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
