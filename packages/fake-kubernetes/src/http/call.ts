import type { IncomingHttpHeaders } from 'node:http';
import type { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import type { ServedResource } from '../cluster/served-resource.ts';
import { ApiError, invalidOptions } from '../status.ts';
import type { ResourcePath } from './request-info.ts';

/** A request, received over HTTP or from within the process. */
export interface ApiRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** One request to a resource, as passed to the handlers. */
export interface Call {
  readonly cluster: EmbeddedCluster;
  readonly served: ServedResource;
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly request: ApiRequest;
  readonly wallTime: number;
}

/** The response: an object, or text in chunks for long content. */
export interface Reply {
  readonly status: number;
  readonly body: string | AsyncIterable<string>;
  readonly warnings?: readonly string[];
}

export const reply = (status: number, body: unknown, warnings: readonly string[] = []): Reply => ({
  status,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  warnings,
});

const longestManager = 128;

/** The field manager: the query parameter or, by default, the program name in the User-Agent. */
export function fieldManagerOf({ query, request }: Call): string {
  const given = query.get('fieldManager');
  if (given !== null && given !== '') return given;
  const [program = ''] = (request.headers['user-agent'] ?? '').split('/');
  return program === '' ? 'unknown' : program.slice(0, longestManager);
}

export function isDryRun(query: URLSearchParams): boolean {
  const values = query.getAll('dryRun').filter((value) => value !== '');
  if (values.some((value) => value !== 'All')) {
    throw invalidOptions('CreateOptions', [
      {
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`,
        field: 'dryRun',
      },
    ]);
  }
  return values.length > 0;
}

/** The name in the path. Handlers of single objects are called only if the path contains a name. */
export const nameIn = ({ path }: Call): string => path.name ?? '';

export function methodNotAllowed(): ApiError {
  return new ApiError(
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
}
