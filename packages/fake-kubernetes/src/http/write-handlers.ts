import { builtInSchema } from '../openapi/built-in-schemas.ts';
import { decodeAs } from '../openapi/decode.ts';
import { duplicateItems } from '../apply/typed-value.ts';
import { asDraft } from '../cluster/new-object.ts';
import { applyObject } from '../cluster/server-side-apply.ts';
import { scaleKind, scaleOf, withScale } from '../cluster/scale.ts';
import type { ServedResource } from '../cluster/served-resource.ts';
import type { Subresource } from '../cluster/writes.ts';
import { asObject, isObject, type JsonObject, type KubeObject } from '../object.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts';
import { apiVersionOf, type ScalePaths } from '../resource-definition.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { ApiError, invalidOptions } from '../status.ts';
import {
  decodeBody,
  mediaType,
  parseFieldValidation,
  parseObject,
  parseText,
  readBody,
} from './body.ts';
import { type Call, fieldManagerOf, isDryRun, nameIn, type Reply, reply } from './call.ts';
import { existing, objectReply } from './read-handlers.ts';
import { isTrue } from './watch-query.ts';

export async function createObject(call: Call): Promise<Reply> {
  const { cluster, served } = call;
  const { draft, warnings } = await readDraft(call);
  const object = cluster.writes.create(served, draft, writeRequest(call));
  return objectReply(call, 201, object, warnings);
}

/** The object in the body of a request. */
async function readDraft(call: Call): Promise<ReturnType<typeof decodeBody>> {
  const { served, query, request } = call;
  const body = parseObject(
    request.headers['content-type'],
    await readBody(request),
    served.definition.kind,
  );
  const decoded = decodeBody(served, body, parseFieldValidation(query.get('fieldValidation')));
  placeInNamespace(call, decoded.draft);
  return decoded;
}

export async function replaceObject(call: Call, subresource?: Subresource): Promise<Reply> {
  const { cluster, served, path } = call;
  const { draft, warnings } = await readDraft(call);
  checkName(call, draft);
  const { definition } = served;
  const isThere = cluster.get(definition, path.namespace, nameIn(call)) !== undefined;
  if (!isThere && definition.createsOnUpdate === true && subresource === undefined) {
    draft.metadata.resourceVersion = '';
    return objectReply(
      call,
      201,
      cluster.writes.create(served, draft, writeRequest(call)),
      warnings,
    );
  }
  const object = cluster.writes.update(served, draft, updateRequest(call, subresource));
  return objectReply(call, 200, object, warnings);
}

export async function patchObject(call: Call, subresource?: Subresource): Promise<Reply> {
  const { cluster, served, query, request } = call;
  const type = patchType(call);
  const patch = parseText(await readBody(request));
  if (type === 'apply') return applyPatch(call, patch, subresource);
  const current = existing(call);
  const { view } = served.definition;
  const shown = view === undefined ? current : view.fromStored(current);
  const presented = { ...shown, apiVersion: apiVersionOf(served.definition) };
  const patched = patchedObject(type, served.schema, presented, patch);
  const validation = parseFieldValidation(query.get('fieldValidation'));
  const { draft, warnings } = decodeBody(served, structuredClone(patched), validation, {
    type,
    patch,
  });
  checkName(call, draft);
  placeInNamespace(call, draft);
  const object = cluster.writes.update(served, draft, updateRequest(call, subresource));
  return objectReply(call, 200, object, warnings);
}

function applyPatch(call: Call, patch: unknown, subresource?: Subresource): Reply {
  const { cluster, served, query } = call;
  if ((query.get('fieldManager') ?? '') === '') {
    throw invalidOptions('PatchOptions', [
      {
        reason: 'FieldValueRequired',
        message: 'Required value: is required for apply patch',
        field: 'fieldManager',
      },
    ]);
  }
  if (!isObject(patch)) throw new ApiError('BadRequest', 'the applied configuration is no object');
  checkApplied(served, patch);
  const draft = asDraft(structuredClone(patch));
  if (draft.metadata.name === '') draft.metadata.name = nameIn(call);
  checkName(call, draft);
  placeInNamespace(call, draft);
  const { object, isNew } = applyObject(cluster.store, cluster.writes, served, draft, {
    ...updateRequest(call, subresource),
    force: isTrue(query.get('force')),
    sent: patch,
  });
  return objectReply(call, isNew ? 201 : 200, object);
}

/** An applied configuration has to match its schema exactly. Unknown fields are rejected. */
function checkApplied(served: ServedResource, patch: JsonObject): void {
  const { definition, schema } = served;
  const { apiVersion, kind, metadata } = patch;
  if (apiVersion !== apiVersionOf(definition) || kind !== definition.kind) {
    throw new ApiError(
      'BadRequest',
      `invalid object type: ${String(apiVersion)}, Kind=${String(kind)}`,
    );
  }
  const { unknownFields, mismatches } = served.decode(patch);
  const problems = [
    ...unknownFields.map((field) => `.${field}: field not declared in schema`),
    ...mismatches,
    ...duplicateItems(schema, patch),
  ];
  if (problems.length === 0) return;
  const { name = '', namespace = '' } = asObject(metadata);
  const what = `${String(namespace)}/${String(name)}; ${definition.group}/${definition.version}, Kind=${kind}`;
  const [only = ''] = problems;
  throw new ApiError(
    'Unknown',
    `failed to create typed patch object (${what}): ${problems.length === 1 ? only : `errors:\n${problems.map((problem) => `  ${problem}`).join('\n')}`}`,
  );
}

type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

function patchType({ served, request }: Call): PatchType {
  const type = patchTypes[mediaType(request.headers['content-type'])];
  if (type === undefined) {
    throw new ApiError('UnsupportedMediaType', '415: Unsupported Media Type', {});
  }
  if (type === 'strategic' && served.isCustom) {
    throw new ApiError(
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  }
  return type;
}

function patchedObject(
  type: Exclude<PatchType, 'apply'>,
  schema: Schema | undefined,
  current: JsonObject,
  patch: unknown,
): JsonObject {
  const result =
    type === 'json'
      ? applyJsonPatch(current, patch)
      : type === 'merge'
        ? applyMergePatch(current, patch)
        : applyStrategicMergePatch(schema, current, isObject(patch) ? patch : {});
  if (!isObject(result)) throw new ApiError('BadRequest', 'the patched document is no object');
  return result;
}

/** Changes the number of replicas with a Scale or a patch of it. */
export async function writeScale(call: Call): Promise<Reply> {
  const { cluster, served, request } = call;
  const { scale } = served.definition;
  if (scale === undefined) throw new ApiError('NotFound', 'there is no scale here');
  const body = await readBody(request);
  const current = existing(call);
  const asked = askedScale(call, scale, current, body);
  const schema = builtInSchema(scaleKind) ?? {};
  const { object: read, mismatches } = decodeAs(schema, asked);
  const [mismatch] = mismatches;
  if (mismatch !== undefined) throw new ApiError('BadRequest', mismatch);
  const draft = withScale(scale, current, read);
  const isPatch = request.method === 'PATCH';
  if (isPatch && draft.metadata.resourceVersion === '') {
    draft.metadata.resourceVersion = current.metadata.resourceVersion;
  }
  const updated = cluster.writes.update(served, draft, updateRequest(call, 'scale'));
  return reply(200, scaleOf(scale, updated));
}

function askedScale(call: Call, paths: ScalePaths, current: KubeObject, body: Buffer): JsonObject {
  const { request } = call;
  if (request.method !== 'PATCH')
    return parseObject(request.headers['content-type'], body, scaleKind.kind);
  const type = patchType(call);
  const schema = builtInSchema(scaleKind);
  return patchedObject(
    type === 'apply' ? 'merge' : type,
    schema,
    scaleOf(paths, current),
    parseText(body),
  );
}

function writeRequest(call: Call) {
  return { fieldManager: fieldManagerOf(call), dryRun: isDryRun(call.query) };
}

function updateRequest(call: Call, subresource: Subresource | undefined) {
  return { ...writeRequest(call), ...(subresource === undefined ? {} : { subresource }) };
}

/** The path determines the namespace. An object with another namespace is rejected. */
function placeInNamespace({ path, served }: Call, draft: KubeObject): void {
  const { metadata } = draft;
  if (!served.definition.namespaced || path.namespace === undefined) {
    delete metadata.namespace;
    return;
  }
  if (
    metadata.namespace !== undefined &&
    metadata.namespace !== '' &&
    metadata.namespace !== path.namespace
  ) {
    throw new ApiError(
      'BadRequest',
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  metadata.namespace = path.namespace;
}

function checkName(call: Call, draft: KubeObject): void {
  const { name } = draft.metadata;
  if (name === nameIn(call)) return;
  throw new ApiError(
    'BadRequest',
    name === ''
      ? 'name must be provided'
      : `the name of the object (${name}) does not match the name on the URL (${nameIn(call)})`,
  );
}
