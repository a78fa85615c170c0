import { CausewayError } from '../error/causeway-error.ts';

const longestParameter = 100;

/** A parameter of a path is too long. */
export class ParameterTooLong extends CausewayError {
  constructor() {
    super('invalid', `a part of the path is longer than ${longestParameter} characters`);
  }
}

export interface Match<Target> {
  readonly target: Target;
  readonly params: Readonly<Record<string, string>>;
}

interface Route<Target> {
  readonly target: Target;
  readonly names: readonly string[];
}

interface Branch<Target> {
  readonly fixed: Map<string, Branch<Target>>;
  parameter: Branch<Target> | undefined;
  readonly routes: Map<string, Route<Target>>;
}

const newBranch = <Target>(): Branch<Target> => ({
  fixed: new Map(),
  parameter: undefined,
  routes: new Map(),
});

/** Finds the target of a request by method and path. A pattern has `{name}` for a parameter. */
export class Router<Target> {
  readonly #root = newBranch<Target>();

  add(method: string, pattern: string, target: Target): void {
    const names: string[] = [];
    let branch = this.#root;
    for (const part of pattern.split('/')) {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (name !== undefined) {
        names.push(name);
        branch.parameter ??= newBranch();
        branch = branch.parameter;
        continue;
      }
      const next = branch.fixed.get(part) ?? newBranch<Target>();
      branch.fixed.set(part, next);
      branch = next;
    }
    branch.routes.set(method, { target, names });
  }

  /**
   * Returns undefined if no route matches. A GET route also answers HEAD. Throws for a malformed escape and
   * for a parameter that is too long.
   */
  find(method: string, path: string): Match<Target> | undefined {
    const parts = path.split('/').map(decode);
    const values: string[] = [];
    const found =
      search(this.#root, method, parts, 0, values) ??
      (method === 'HEAD' ? search(this.#root, 'GET', parts, 0, values) : undefined);
    if (found === undefined) return undefined;
    if (values.some((value) => value.length > longestParameter)) throw new ParameterTooLong();
    const params = Object.fromEntries(
      found.names.map((name, index) => [name, values[index] ?? '']),
    );
    return { target: found.target, params };
  }
}

/** Prefers a fixed part to a parameter, and backtracks if the fixed part leads to no route. */
function search<Target>(
  branch: Branch<Target>,
  method: string,
  parts: readonly string[],
  at: number,
  values: string[],
): Route<Target> | undefined {
  const part = parts[at];
  if (part === undefined) return branch.routes.get(method);
  const fixed = branch.fixed.get(part);
  const found = fixed && search(fixed, method, parts, at + 1, values);
  if (found !== undefined) return found;
  if (branch.parameter === undefined || part === '') return undefined;
  values.push(part);
  const behind = search(branch.parameter, method, parts, at + 1, values);
  if (behind === undefined) values.pop();
  return behind;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new CausewayError('invalid', 'the path has a malformed escape', { cause });
  }
}
