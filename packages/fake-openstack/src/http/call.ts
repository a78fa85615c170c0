export type ServiceName = 'identity' | 'network' | 'load-balancer';

/** Any JSON object in its wire format. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** One complete request. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: RequestBody;
  /** Values of the path's parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The service's own URL without a trailing slash, for links. */
  readonly baseUrl: string;
}

export type RequestBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'malformed' };

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body that is not JSON. */
  readonly text?: { readonly type: string; readonly content: string };
}

/** All state is in memory, so a request is handled synchronously and atomically. */
export type Handler = (call: Call) => Answer;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function parameter(call: Call, name: string): string {
  return call.parameters[name] ?? '';
}

export function parseBody(text: string): RequestBody {
  if (text === '') return { kind: 'none' };
  try {
    return { kind: 'json', value: JSON.parse(text) as unknown };
  } catch {
    return { kind: 'malformed' };
  }
}
