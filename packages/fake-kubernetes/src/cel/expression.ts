import { Environment, EvaluationError, ParseError, type ASTNode } from '@marcbachmann/cel-js';
import { CelEvaluationError, CelSyntaxError } from './errors.ts';
import { addKubernetesLibrary } from './kubernetes-library.ts';
import { toCelValue } from './values.ts';

/** The JSON values that a rule can read. */
export interface Scope {
  readonly self: unknown;
  readonly oldSelf?: unknown;
}

/** A rule, parsed once. */
export interface Expression {
  /** Whether the rule compares with the value before the change. */
  readonly isTransition: boolean;
  evaluate(scope: Scope): unknown;
}

const environment = addKubernetesLibrary(
  new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })
    .registerVariable('self', 'dyn')
    .registerVariable('oldSelf', 'dyn'),
);

export function parseExpression(source: string): Expression {
  try {
    const parsed = environment.parse(source);
    return {
      isTransition: mentions(parsed.ast, 'oldSelf'),
      evaluate: ({ self, oldSelf }) => {
        try {
          return parsed({ self: toCelValue(self), oldSelf: toCelValue(oldSelf) }) as unknown;
        } catch (error) {
          throw translated(error);
        }
      },
    };
  } catch (error) {
    if (error instanceof ParseError) throw new CelSyntaxError(error.summary);
    throw error;
  }
}

/** Whether a name occurs in an expression. */
function mentions(node: unknown, name: string): boolean {
  if (Array.isArray(node)) return node.some((item) => mentions(item, name));
  if (typeof node !== 'object' || node === null || !('op' in node)) return false;
  const { op, args } = node as ASTNode;
  return op === 'id' ? args === name : mentions(args, name);
}

/** The error in the words of the Kubernetes API server. */
function translated(error: unknown): unknown {
  if (!(error instanceof EvaluationError)) return error;
  if (error.cause instanceof CelEvaluationError) return error.cause;
  switch (error.code) {
    case 'no_matching_overload':
    case 'unknown_variable':
      return new CelSyntaxError(error.summary);
    case 'no_such_overload':
      return new CelEvaluationError('no such overload');
    case 'no_such_key':
      return new CelEvaluationError(error.summary.replace(/^No such key/, 'no such key'));
    case 'index_out_of_bounds':
      return new CelEvaluationError(
        `index out of bounds: ${/index (-?\d{1,20})/.exec(error.summary)?.[1] ?? ''}`,
      );
    default:
      return new CelEvaluationError(error.summary);
  }
}
