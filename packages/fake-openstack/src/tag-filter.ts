/** The four tag filters, equal in Neutron and Octavia. Tags are separated by commas. */
export interface TagFilter {
  readonly all: readonly string[];
  readonly any: readonly string[];
  readonly notAll: readonly string[];
  readonly notAny: readonly string[];
}

export const tagArguments = ['tags', 'tags-any', 'not-tags', 'not-tags-any'];

export function readTagFilter(query: URLSearchParams): TagFilter {
  const split = (name: string) => query.getAll(name).flatMap((value) => value.split(','));
  return {
    all: split('tags'),
    any: split('tags-any'),
    notAll: split('not-tags'),
    notAny: split('not-tags-any'),
  };
}

export function tagsMatch(filter: TagFilter, tags: readonly string[]): boolean {
  const has = (tag: string) => tags.includes(tag);
  return (
    filter.all.every(has) &&
    (filter.any.length === 0 || filter.any.some(has)) &&
    (filter.notAll.length === 0 || !filter.notAll.every(has)) &&
    !filter.notAny.some(has)
  );
}
