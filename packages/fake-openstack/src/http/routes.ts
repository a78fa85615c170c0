interface Route<Handler> {
  readonly method: string;
  readonly segments: readonly string[];
  readonly handler: Handler;
}

interface RouteMatch<Handler> {
  readonly handler: Handler;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A table of paths such as `/v3/projects/:id`. */
export class Routes<Handler> {
  private readonly routes: Route<Handler>[] = [];

  add(method: string, pattern: string, handler: Handler): this {
    this.routes.push({ method, segments: split(pattern), handler });
    return this;
  }

  /** Returns the route of the request; 'method' if the path matches but the method doesn't. */
  find(method: string, path: string): RouteMatch<Handler> | 'path' | 'method' {
    // Servers decode a path before routing, so an escaped slash is a separator too.
    const segments = split(decode(path));
    let isPathKnown = false;
    for (const route of this.routes) {
      const parameters = match(route.segments, segments);
      if (parameters === undefined) continue;
      if (route.method === method) return { handler: route.handler, parameters };
      isPathKnown = true;
    }
    return isPathKnown ? 'method' : 'path';
  }
}

function split(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function match(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const actual = segments[index] ?? '';
    if (expected.startsWith(':')) parameters[expected.slice(1)] = actual;
    else if (expected !== actual) return undefined;
  }
  return parameters;
}
