import { scaleOf } from '../cluster/scale.ts';
import { identityOf } from '../cluster/writes.ts';
import type { KubeObject } from '../object.ts';
import { ApiError, notFound } from '../status.ts';
import { type Call, nameIn, type Reply, reply } from './call.ts';
import { listPage, serializeList } from './list.ts';
import { parseListQuery, parseSelection } from './list-query.ts';
import { negotiateShape } from './negotiation.ts';
import { partialMetadata, serialize } from './serialize.ts';
import { type IncludeObject, table } from './table.ts';

export function getObject(call: Call): Reply {
  const object = existing(call);
  return objectReply(call, 200, object);
}

export function getScale(call: Call): Reply {
  const { scale } = call.served.definition;
  if (scale === undefined) throw new ApiError('NotFound', 'there is no scale here');
  return reply(200, scaleOf(scale, existing(call)));
}

/** Returns the object that the path names, or throws NotFound. */
export function existing(call: Call): KubeObject {
  const { cluster, served, path } = call;
  const object = cluster.get(served.definition, path.namespace, nameIn(call));
  if (object === undefined) throw notFound(identityOf(served, nameIn(call)));
  return object;
}

/** One object in the requested shape. */
export function objectReply(
  call: Call,
  status: number,
  object: KubeObject,
  given: readonly string[] = [],
): Reply {
  const { definition } = call.served;
  const isWrite = call.request.method !== 'GET' && call.request.method !== 'DELETE';
  const warnings = isWrite ? [...given, ...(definition.warnings?.(object) ?? [])] : given;
  switch (negotiateShape(call.request.headers.accept)) {
    case 'table': {
      const { resourceVersion } = object.metadata;
      return reply(
        status,
        table(definition, [object], { resourceVersion }, tableOptions(call)),
        warnings,
      );
    }
    case 'metadata':
      return reply(status, partialMetadata(object), warnings);
    default:
      return reply(status, serialize(definition, object), warnings);
  }
}

export function listObjects(call: Call): Reply {
  const { cluster, served, path, query } = call;
  const { definition } = served;
  const shape = negotiateShape(call.request.headers.accept);
  const selection = parseSelection(served, path.namespace, query);
  const page = listPage(cluster.store, definition, selection, parseListQuery(query));
  switch (shape) {
    case 'table':
      return reply(200, table(definition, page.items, page.metadata, tableOptions(call)));
    case 'metadata':
      return reply(200, {
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: page.metadata,
        items: page.items.map(partialMetadata),
      });
    default:
      return { status: 200, body: serializeList(definition, served.isCustom, page) };
  }
}

const tableOptions = (call: Call) => ({
  includeObject: includeObjectOf(call.query),
  now: call.wallTime,
  withHeadings: true,
});

export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const text = query.get('includeObject') ?? '';
  if (text === 'None' || text === 'Object') return text;
  if (text === '' || text === 'Metadata') return 'Metadata';
  throw new ApiError('BadRequest', `unrecognized includeObject value: ${JSON.stringify(text)}`);
}
