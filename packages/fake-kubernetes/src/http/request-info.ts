/** A parsed API path. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** Segments after a namespace's name that are subresources of the namespace, not resources in it. */
const namespaceSubresources = ['status', 'finalize'];

/**
 * Parses `/api/v1/…` and `/apis/GROUP/VERSION/…`. Returns undefined if the path has another form or doesn't
 * name a resource.
 */
export function parseResourcePath(pathname: string): ResourcePath | undefined {
  const parts = decoded(pathname);
  if (parts === undefined) return undefined;
  const [root, ...rest] = parts;
  const [group, version, ...below] = root === 'api' ? ['', ...rest] : rest;
  if ((root !== 'api' && root !== 'apis') || group === undefined || version === undefined) {
    return undefined;
  }
  const location = { group, version };
  const [first, second, third, ...others] = below;
  if (first === undefined) return undefined;
  if (first === 'namespaces' && group === '' && isNamespaceItself(below)) {
    return below.length > 3 ? undefined : { ...location, plural: first, ...named(second, third) };
  }
  if (first === 'namespaces' && second !== undefined && third !== undefined) {
    const [name, subresource, ...tooMuch] = others;
    if (tooMuch.length > 0) return undefined;
    return { ...location, plural: third, namespace: second, ...named(name, subresource) };
  }
  if (others.length > 0) return undefined;
  return { ...location, plural: first, ...named(second, third) };
}

const isNamespaceItself = ([, , third]: readonly string[]) =>
  third === undefined || namespaceSubresources.includes(third);

function named(name: string | undefined, subresource: string | undefined) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function decoded(pathname: string): string[] | undefined {
  try {
    return pathname
      .split('/')
      .filter((part) => part !== '')
      .map((part) => decodeURIComponent(part));
  } catch {
    return undefined;
  }
}
