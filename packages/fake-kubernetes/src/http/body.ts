import { parse as parseYaml } from 'yaml';
import { readBounded } from '@causeway/base/http/bounded-body';
import { decodeProtobuf, protobufType } from '../openapi/protobuf.ts';
import { isObject, type JsonObject, type KubeObject } from '../object.ts';
import { asDraft } from '../cluster/new-object.ts';
import type { ServedResource } from '../cluster/served-resource.ts';
import { apiVersionOf } from '../resource-definition.ts';
import { ApiError } from '../status.ts';
import type { ApiRequest } from './call.ts';

const largestBody = 3 * 1024 * 1024;

export function readBody(request: ApiRequest): Promise<Buffer> {
  const tooLarge = () => new ApiError('RequestEntityTooLarge', `limit is ${largestBody}`);
  return readBounded(request as AsyncIterable<Buffer>, largestBody, tooLarge);
}

/** The media type of a Content-Type header, without its parameters. */
export const mediaType = (header: string | undefined): string =>
  (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** The body of a request that carries an object: JSON, YAML or protobuf. */
export function parseObject(
  contentType: string | undefined,
  body: Buffer,
  kind: string,
): JsonObject {
  const type = mediaType(contentType);
  if (type === protobufType) return decodeProtobuf(body);
  if (type !== '' && type !== 'application/json' && type !== 'application/yaml') {
    throw new ApiError(
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  }
  const unrecognized = (why: string) =>
    new ApiError(
      'BadRequest',
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why}`,
    );
  let value: unknown;
  try {
    value = parseText(body);
  } catch (error) {
    throw unrecognized(error instanceof Error ? error.message : String(error));
  }
  if (!isObject(value)) throw unrecognized('it is no object');
  return value;
}

/** JSON is a subset of YAML, but the JSON parser is much faster. */
export function parseText(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return parsedYaml(text);
  }
}

function parsedYaml(text: string): unknown {
  try {
    return parseYaml(text, { maxAliasCount: 100 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ApiError('BadRequest', `error parsing the body: ${why}`);
  }
}

/** Handling of fields that the kind doesn't define. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export function parseFieldValidation(text: string | null): FieldValidation {
  if (text === null || text === '') return 'Warn';
  if (text === 'Ignore' || text === 'Warn' || text === 'Strict') return text;
  throw new ApiError('BadRequest', `fieldValidation parameter unsupported: ${text}`);
}

export interface DecodedBody {
  readonly draft: KubeObject;
  readonly warnings: readonly string[];
}

/** The patch that produced a body. */
export interface Patched {
  readonly type: string;
  readonly patch: unknown;
}

/** If the result of a patch is invalid, the error refers to the patch. */
function unfitPatch(body: JsonObject, { type, patch }: Patched, why: string): ApiError {
  const shown = JSON.stringify(type === 'strategic' ? patch : body);
  const message = `Invalid value: ${JSON.stringify(shown)}: ${why}`;
  return new ApiError('Invalid', ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }],
  });
}

/** Decodes a body as an object of the kind that the path names. */
export function decodeBody(
  served: ServedResource,
  body: JsonObject,
  validation: FieldValidation,
  patched?: Patched,
): DecodedBody {
  const { definition } = served;
  const expected = apiVersionOf(definition);
  const { apiVersion = expected, kind = definition.kind } = body;
  const described = `${definition.kind} in version "${definition.version}" cannot be handled as a ${definition.kind}`;
  if (apiVersion !== expected || kind !== definition.kind) {
    const found = `${String(kind)} in version "${definition.version}" cannot be handled as a ${definition.kind}`;
    const why =
      apiVersion === expected
        ? `converting (${definition.version}.${String(kind)}) to (${definition.group === '' ? 'core' : definition.group}.${definition.kind}): unknown conversion`
        : `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme`;
    throw patched === undefined
      ? new ApiError('BadRequest', `${found}: ${why}`)
      : unfitPatch(body, patched, why);
  }
  const { object, unknownFields, mismatches } = served.decode(body);
  const [mismatch] = mismatches;
  if (mismatch !== undefined) {
    throw patched === undefined
      ? new ApiError('BadRequest', `${described}: ${mismatch}`)
      : unfitPatch(body, patched, mismatch);
  }
  const unknown = unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`);
  if (validation === 'Strict' && unknown.length > 0) {
    const why = `strict decoding error: ${unknown.join(', ')}`;
    throw patched === undefined
      ? new ApiError('BadRequest', `${described}: ${why}`)
      : unfitPatch(body, patched, why);
  }
  return { draft: asDraft(object), warnings: validation === 'Warn' ? unknown : [] };
}
