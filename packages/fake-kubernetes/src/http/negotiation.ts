import { ApiError } from '../status.ts';

/** The representation of objects that the client requests. */
export type Shape = 'object' | 'table' | 'metadata';

interface MediaType {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The first supported shape of the Accept header. All shapes are served as JSON. */
export function negotiateShape(accept: string | undefined): Shape {
  const wanted = parseAccept(accept);
  if (wanted.length === 0) return 'object';
  for (const mediaType of wanted) {
    const shape = shapeOf(mediaType);
    if (shape !== undefined) return shape;
  }
  throw new ApiError(
    'NotAcceptable',
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    {},
  );
}

/** Whether the client prefers the aggregated discovery document. */
export function wantsAggregatedDiscovery(accept: string | undefined): boolean {
  return parseAccept(accept).some(
    ({ type, parameters }) =>
      type === 'application/json' &&
      parameters['g'] === 'apidiscovery.k8s.io' &&
      parameters['v'] === 'v2' &&
      parameters['as'] === 'APIGroupDiscoveryList',
  );
}

function shapeOf({ type, parameters }: MediaType): Shape | undefined {
  if (type === '*/*' || type === 'application/*') return 'object';
  if (type !== 'application/json') return undefined;
  const { as, g } = parameters;
  if (as === undefined) return 'object';
  if (g !== 'meta.k8s.io') return undefined;
  if (as === 'Table') return parameters['v'] === 'v1' ? 'table' : undefined;
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList'
    ? 'metadata'
    : undefined;
}

function parseAccept(accept: string | undefined): MediaType[] {
  return (accept ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim());
      return {
        type: type.toLowerCase(),
        parameters: Object.fromEntries(
          parameters.map((parameter) => {
            const [name = '', value = ''] = parameter.split('=');
            return [name, value];
          }),
        ),
      };
    });
}
