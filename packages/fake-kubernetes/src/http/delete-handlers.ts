import type { Deletion } from '../cluster/deletion.ts';
import type { DeleteOptions } from '../cluster-api.ts';
import { asObject, type JsonObject } from '../object.ts';
import { storageResource } from '../resource-definition.ts';
import { invalidOptions } from '../status.ts';
import { parseObject, readBody } from './body.ts';
import { type Call, isDryRun, nameIn, type Reply, reply } from './call.ts';
import { serializeList } from './list.ts';
import { isSelected, parseCount, parseSelection } from './list-query.ts';
import { objectReply } from './read-handlers.ts';

export async function deleteOne(call: Call): Promise<Reply> {
  const { cluster, served, path } = call;
  const options = await deleteOptions(call);
  const deletion = cluster.remove(served.definition, path.namespace, nameIn(call), options);
  const isStatusReply = deletion.isGone && served.definition.returnsDeleted !== true;
  return isStatusReply
    ? reply(200, success(call, deletion))
    : objectReply(call, 200, deletion.object);
}

/** Returns the objects in their state before the deletion. */
export async function deleteCollection(call: Call): Promise<Reply> {
  const { cluster, served, path, query } = call;
  const { definition } = served;
  const selection = parseSelection(served, path.namespace, query);
  const options = await deleteOptions(call);
  const items = cluster.store
    .list(storageResource(definition), path.namespace)
    .filter((object) => isSelected(definition, selection, object));
  for (const { metadata } of items) {
    cluster.remove(definition, metadata.namespace, metadata.name, options);
  }
  const metadata = { resourceVersion: String(cluster.store.version) };
  return { status: 200, body: serializeList(definition, served.isCustom, { items, metadata }) };
}

function success({ served }: Call, { object }: Deletion): object {
  const { group, plural } = served.definition;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: object.metadata.name,
      ...(group === '' ? {} : { group }),
      kind: plural,
      uid: object.metadata.uid,
    },
  };
}

/** The options are in the body or in the query. */
async function deleteOptions(call: Call): Promise<DeleteOptions> {
  const { query, request } = call;
  const body = await readBody(request);
  const parsed =
    body.length === 0 ? {} : parseObject(request.headers['content-type'], body, 'DeleteOptions');
  const grace = parsed['gracePeriodSeconds'] ?? parseCount(query.get('gracePeriodSeconds'));
  const policy = propagationPolicy(parsed, query);
  const preconditions = asObject(parsed['preconditions']);
  const { uid, resourceVersion } = preconditions;
  return {
    dryRun:
      isDryRun(query) || (Array.isArray(parsed['dryRun']) && parsed['dryRun'].includes('All')),
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
  };
}

function propagationPolicy(
  body: JsonObject,
  query: URLSearchParams,
): DeleteOptions['propagationPolicy'] {
  const orphan = body['orphanDependents'] ?? query.get('orphanDependents');
  const policy = body['propagationPolicy'] ?? query.get('propagationPolicy') ?? undefined;
  if (policy === undefined || policy === null || policy === '') {
    return orphan === true || orphan === 'true' ? 'Orphan' : undefined;
  }
  if (policy === 'Background' || policy === 'Foreground' || policy === 'Orphan') return policy;
  throw invalidOptions('DeleteOptions', [
    {
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
      field: 'propagationPolicy',
    },
  ]);
}
