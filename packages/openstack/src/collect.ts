/** Collects all objects of an iterator of pages. */
export async function collect<T>(objects: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const object of objects) all.push(object);
  return all;
}
