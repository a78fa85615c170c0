import type { JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { ApiError } from '../status.ts';
import { builtInSchema, typeNameOf } from './built-in-schemas.ts';
import fieldNumbers from './field-numbers.json' with { type: 'json' };
import { malformed, wireFields } from './wire-reader.ts';

/** Media type of kubectl's `create` subcommands, which send protobuf. */
export const protobufType = 'application/vnd.kubernetes.protobuf';

const magic = Buffer.from('k8s\0', 'latin1');
const numbers: Readonly<Record<string, Readonly<Record<string, string>>>> = fieldNumbers;

/** Decodes the object in the envelope that names its kind. */
export function decodeProtobuf(body: Buffer): JsonObject {
  if (!body.subarray(0, magic.length).equals(magic)) throw malformed();
  const envelope = fieldsByNumber(body.subarray(magic.length));
  const type = fieldsByNumber(bytes(envelope.get(1)));
  const apiVersion = text(type.get(1));
  const kind = text(type.get(2));
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  // DeleteOptions have the apiVersion of the deleted object.
  const schema =
    kind === 'DeleteOptions'
      ? builtInSchema({ group: '', version: 'v1', kind })
      : builtInSchema({ group, version, kind });
  if (schema === undefined || numbers[typeNameOf(schema)] === undefined) {
    throw new ApiError(
      'UnsupportedMediaType',
      `${kind} in ${apiVersion} is read as JSON or YAML only`,
    );
  }
  return { apiVersion, kind, ...message(bytes(envelope.get(2)), typeNameOf(schema), schema) };
}

function fieldsByNumber(encoded: Buffer): Map<number, bigint | Buffer> {
  return new Map([...wireFields(encoded)].map(({ number, value }) => [number, value]));
}

/** Decodes the fields of a structure. An inlined structure uses the schema of its parent. */
function message(encoded: Buffer, typeName: string, schema: Schema): JsonObject {
  const names = numbers[typeName] ?? {};
  const result: JsonObject = {};
  for (const { number, value } of wireFields(encoded)) {
    const entry = names[number];
    if (entry === undefined) continue;
    if (entry.startsWith('+')) {
      Object.assign(result, message(bytes(value), entry.slice(1), schema));
      continue;
    }
    const name = entry.replace(/\?$/, '');
    const fieldSchema = schema.properties?.[name] ?? {};
    if (fieldSchema.type === 'array') append(result, name, scalar(fieldSchema.items ?? {}, value));
    else if (isMap(fieldSchema)) put(result, name, fieldSchema, bytes(value));
    else set(result, name, scalar(fieldSchema, value), entry.endsWith('?'));
  }
  return result;
}

const isMap = (schema: Schema) =>
  schema.properties === undefined && typeof schema.additionalProperties === 'object';

/** Non-pointer fields are always sent, so their zero value means unset. */
function set(result: JsonObject, name: string, value: unknown, zeroIsAbsent: boolean): void {
  const isZero = value === '' || value === 0 || value === false;
  if (value !== undefined && !(zeroIsAbsent && isZero)) result[name] = value;
}

function append(result: JsonObject, name: string, item: unknown): void {
  const list = result[name];
  if (Array.isArray(list)) list.push(item);
  else result[name] = [item];
}

function put(result: JsonObject, name: string, schema: Schema, entry: Buffer): void {
  const fields = fieldsByNumber(entry);
  const values = schema.additionalProperties;
  const value = scalar(typeof values === 'object' ? values : {}, fields.get(2) ?? Buffer.alloc(0));
  const map = (result[name] ?? {}) as JsonObject;
  map[text(fields.get(1))] = value;
  result[name] = map;
}

/** Types with a JSON form that differs from their fields. */
const specialTypes: Readonly<Record<string, (encoded: Buffer) => unknown>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': (encoded) => time(encoded, 0),
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': (encoded) => time(encoded, 6),
  'io.k8s.apimachinery.pkg.api.resource.Quantity': (encoded) =>
    text(fieldsByNumber(encoded).get(1)),
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': intOrString,
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': rawJson,
  'io.k8s.apimachinery.pkg.runtime.RawExtension': rawJson,
};

function scalar(schema: Schema, value: bigint | Buffer): unknown {
  const typeName = typeNameOf(schema);
  const special = specialTypes[typeName];
  if (special !== undefined) return special(bytes(value));
  switch (schema.type) {
    case 'string':
      return schema.format === 'byte' ? bytes(value).toString('base64') : text(value);
    case 'boolean':
      return value !== 0n;
    case 'integer':
      return Number(value);
    case 'number':
      return bytes(value).readDoubleLE();
    default:
      return message(bytes(value), typeName, schema);
  }
}

function bytes(value: bigint | Buffer | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (typeof value === 'bigint') throw malformed();
  return value;
}

const text = (value: bigint | Buffer | undefined) => bytes(value).toString('utf8');

function time(encoded: Buffer, digits: number): string | undefined {
  const fields = fieldsByNumber(encoded);
  const seconds = Number(fields.get(1) ?? 0n);
  if (fields.size === 0) return undefined;
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  const nanoseconds = String(Number(fields.get(2) ?? 0n)).padStart(9, '0');
  return digits === 0 ? `${whole}Z` : `${whole}.${nanoseconds.slice(0, digits)}Z`;
}

function intOrString(encoded: Buffer): string | number {
  const fields = fieldsByNumber(encoded);
  return fields.get(1) === 1n ? text(fields.get(3)) : Number(fields.get(2) ?? 0n);
}

function rawJson(encoded: Buffer): unknown {
  const raw = text(fieldsByNumber(encoded).get(1));
  return raw === '' ? undefined : JSON.parse(raw);
}
