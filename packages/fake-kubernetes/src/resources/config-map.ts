import type { KubeObject } from '../object.ts';
import { forbidden, invalid, required, type FieldError } from '../schema/field-error.ts';
import { jsonEqual } from '../schema/json.ts';
import { ageColumn, column, nameColumn } from './columns.ts';
import { builtIn } from './definition.ts';

type ByteMap = Record<string, string>;

interface ConfigMap extends KubeObject {
  data?: ByteMap;
  binaryData?: ByteMap;
  immutable?: boolean;
}

interface Secret extends KubeObject {
  type?: string;
  data?: ByteMap;
  stringData?: ByteMap;
  immutable?: boolean;
}

const mostBytes = 1024 * 1024;
const count = (map: ByteMap | undefined) => Object.keys(map ?? {}).length;

export const configMaps = builtIn<ConfigMap>({
  plural: 'configmaps',
  kind: 'ConfigMap',
  shortNames: ['cm'],
  columns: [
    nameColumn,
    column<ConfigMap>('Data', ({ data, binaryData }) => count(data) + count(binaryData)),
    ageColumn,
  ],
  validate(object, old) {
    const errors = [
      ...validateKeys(object.data, 'data'),
      ...validateKeys(object.binaryData, 'binaryData'),
      ...Object.keys(object.data ?? {})
        .filter((key) => object.binaryData?.[key] !== undefined)
        .map((key) => invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')),
      ...validateSize(byteLength(object.data) + decodedLength(object.binaryData), ''),
    ];
    if (old?.immutable !== true) return errors;
    return [...errors, ...validateImmutable(object, old, ['data', 'binaryData'])];
  },
});

export const secrets = builtIn<Secret>({
  plural: 'secrets',
  kind: 'Secret',
  columns: [
    nameColumn,
    column<Secret>('Type', ({ type }) => type ?? ''),
    column<Secret>('Data', ({ data }) => count(data)),
    ageColumn,
  ],
  fieldLabels: ({ type }) => ({ type: type ?? '' }),
  defaults(draft) {
    draft.type ??= 'Opaque';
    if (draft.stringData === undefined) return;
    // `stringData` is write-only. Its values are stored in base64 in `data` and take precedence.
    const data = { ...draft.data };
    for (const [key, text] of Object.entries(draft.stringData)) {
      data[key] = Buffer.from(text).toString('base64');
    }
    delete draft.stringData;
    draft.data = data;
  },
  prepareUpdate(draft, old) {
    draft.type ??= old.type ?? 'Opaque';
  },
  validate(object, old) {
    const errors = [
      ...validateKeys(object.data, 'data'),
      ...validateSize(decodedLength(object.data), 'data'),
      ...validateSecretType(object),
    ];
    if (old === undefined) return errors;
    if (object.type !== old.type) {
      errors.push(invalid('type', object.type ?? '', 'field is immutable'));
    }
    if (old.immutable === true) errors.push(...validateImmutable(object, old, ['data']));
    return errors;
  },
});

/** Required keys of Secrets by type. */
const keysByType: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function validateSecretType({ type, data, metadata }: Secret): FieldError[] {
  if (type === 'kubernetes.io/service-account-token') {
    const account = 'kubernetes.io/service-account.name';
    return metadata.annotations?.[account] === undefined
      ? [required(`metadata.annotations[${account}]`)]
      : [];
  }
  if (type === 'kubernetes.io/basic-auth') {
    if (data?.['username'] !== undefined || data?.['password'] !== undefined) return [];
    return [required('data[username]'), required('data[password]')];
  }
  const keys = keysByType[type ?? ''] ?? [];
  return keys.filter((key) => data?.[key] === undefined).map((key) => required(`data[${key}]`));
}

function validateKeys(map: ByteMap | undefined, path: string): FieldError[] {
  return Object.keys(map ?? {}).flatMap((key) =>
    keyErrors(key).map((why) => invalid(`${path}[${key}]`, key, why)),
  );
}

function keyErrors(key: string): string[] {
  if (key.length > 253) return ['must be no more than 253 characters'];
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    return [
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ];
  }
  if (key === '.' || key === '..') return [`must not be '${key}'`];
  return key.startsWith('..') ? ["must not start with '..'"] : [];
}

function byteLength(map: ByteMap | undefined): number {
  return Object.values(map ?? {}).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function decodedLength(map: ByteMap | undefined): number {
  return Object.values(map ?? {}).reduce((sum, text) => sum + Math.floor((text.length * 3) / 4), 0);
}

function validateSize(bytes: number, path: string): FieldError[] {
  if (bytes <= mostBytes) return [];
  return [
    {
      field: path === '' ? '[]' : path,
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${mostBytes} bytes`,
    },
  ];
}

function validateImmutable<T extends ConfigMap | Secret>(
  object: T,
  old: T,
  names: readonly (keyof T & string)[],
): FieldError[] {
  const detail = 'field is immutable when `immutable` is set';
  const errors = names
    .filter((name) => !jsonEqual(object[name] ?? {}, old[name] ?? {}))
    .map((name) => forbidden(name, detail));
  return object.immutable === true ? errors : [forbidden('immutable', detail), ...errors];
}
