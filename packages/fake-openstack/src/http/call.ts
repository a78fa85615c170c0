export type ServiceName = 'identity' | 'network' | 'load-balancer';

/** Any JSON object, as it came over the wire. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** One request, read completely. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: RequestBody;
  /** What the path's parameters were in this request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The service's own address without a slash at the end, for links. */
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

/** All state is in memory, so a request is handled in one go: it has happened, or it has not. */
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
