import { isObject, type JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { invalid, required, type FieldError } from './field-error.ts';
import { isArray } from './json.ts';
import {
  dns1035LabelErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from './names.ts';
import { memberSchema } from './schema.ts';

/** Validates type and metadata of resources that are embedded in an object. */
export function validateEmbeddedResources(
  schema: Schema | undefined,
  value: unknown,
  path = '',
): FieldError[] {
  if (schema === undefined) return [];
  if (isArray(value)) {
    return value.flatMap((item, index) =>
      validateEmbeddedResources(schema.items, item, `${path}[${index}]`),
    );
  }
  if (!isObject(value)) return [];
  const own =
    schema['x-kubernetes-embedded-resource'] === true ? validateResource(value, path) : [];
  const nested = Object.entries(value).flatMap(([name, member]) => {
    const isProperty = Object.hasOwn(schema.properties ?? {}, name);
    const here = isProperty ? join(path, name) : `${path}[${name}]`;
    return validateEmbeddedResources(memberSchema(schema, name), member, here);
  });
  return [...own, ...nested];
}

const join = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);

function validateResource(value: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const apiVersion = value['apiVersion'];
  const apiVersionPath = join(path, 'apiVersion');
  if (apiVersion === undefined) errors.push(required(apiVersionPath));
  else if (typeof apiVersion !== 'string') {
    errors.push(invalid(apiVersionPath, apiVersion, 'must be a string'));
  } else if (apiVersion === '') {
    errors.push(invalid(apiVersionPath, apiVersion, 'must not be empty'));
  } else if (apiVersion.split('/').length > 2) {
    errors.push(
      invalid(apiVersionPath, apiVersion, `unexpected GroupVersion string: ${apiVersion}`),
    );
  }
  const kind = value['kind'];
  const kindPath = join(path, 'kind');
  if (kind === undefined) errors.push(required(kindPath));
  else if (typeof kind !== 'string') errors.push(invalid(kindPath, kind, 'must be a string'));
  else if (kind === '') errors.push(invalid(kindPath, kind, 'must not be empty'));
  else {
    const wrong = dns1035LabelErrors(kind.toLowerCase()).join(',');
    const lead = 'may have mixed case, but should otherwise match: ';
    if (wrong !== '') errors.push(invalid(kindPath, kind, lead + wrong));
  }
  const metadata = value['metadata'];
  if (isObject(metadata)) errors.push(...validateMetadata(metadata, join(path, 'metadata')));
  return errors;
}

function validateMetadata(metadata: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = metadata['name'];
  if (typeof name === 'string') {
    errors.push(...pathSegmentErrors(name).map((why) => invalid(`${path}.name`, name, why)));
  }
  const labels = metadata['labels'];
  for (const [key, label] of Object.entries(isObject(labels) ? labels : {})) {
    errors.push(
      ...qualifiedNameErrors(key).map((why) => invalid(`${path}.labels`, key, why)),
      ...labelValueErrors(typeof label === 'string' ? label : '').map((why) =>
        invalid(`${path}.labels`, label, why),
      ),
    );
  }
  return errors;
}
