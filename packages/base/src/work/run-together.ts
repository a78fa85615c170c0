/**
 * Handles every item with limited concurrency, in the order of the items. The first failure prevents further
 * starts, and is thrown after the running items have ended.
 */
export async function runTogether<T>(
  items: Iterable<T>,
  workers: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async () => {
    while (failures.length === 0) {
      const next = left.next();
      if (next.done === true) return;
      try {
        await work(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  if (failures.length > 0) throw failures[0];
}
