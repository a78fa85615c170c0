import type { KubeObject, ObjectMeta, OwnerReference } from '../object.ts';
import { forbidden, invalid, tooLong, type FieldError } from '../schema/field-error.ts';
import { jsonEqual } from '../schema/json.ts';
import { dnsLabelErrors, labelKeyErrors, qualifiedNameErrors } from '../schema/names.ts';
import { validateLabels } from './label-selector.ts';

const mostAnnotationBytes = 256 * 1024;

/**
 * Returns the errors of an object's metadata. Names are validated only on creation, because they never
 * change.
 */
export function validateMetadata(
  { metadata }: KubeObject,
  old: KubeObject | undefined,
  nameErrors: (name: string) => readonly string[],
): FieldError[] {
  return [
    ...(old === undefined ? validateNames(metadata, nameErrors) : []),
    ...validateLabels(metadata.labels, 'metadata.labels'),
    ...validateAnnotations(metadata.annotations ?? {}),
    ...validateOwners(metadata.ownerReferences ?? []),
    ...validateFinalizers(metadata, old?.metadata),
  ];
}

function validateNames(
  { name, namespace, generateName }: ObjectMeta,
  nameErrors: (name: string) => readonly string[],
): FieldError[] {
  const errors: FieldError[] = [];
  if (generateName !== undefined) {
    // The prefix can end in a dash, because a suffix follows.
    const base = generateName.replace(/-$/, '0');
    errors.push(
      ...nameErrors(base).map((why) => invalid('metadata.generateName', generateName, why)),
    );
  }
  if (name !== '') {
    errors.push(...nameErrors(name).map((why) => invalid('metadata.name', name, why)));
  }
  if (namespace !== undefined) {
    errors.push(
      ...dnsLabelErrors(namespace).map((why) => invalid('metadata.namespace', namespace, why)),
    );
  }
  return errors;
}

function validateAnnotations(annotations: Readonly<Record<string, string>>): FieldError[] {
  const errors = Object.keys(annotations).flatMap((key) =>
    labelKeyErrors(key.toLowerCase()).map((why) => invalid('metadata.annotations', key, why)),
  );
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  if (bytes > mostAnnotationBytes)
    errors.push(tooLong('metadata.annotations', mostAnnotationBytes));
  return errors;
}

function validateOwners(owners: readonly OwnerReference[]): FieldError[] {
  const path = 'metadata.ownerReferences';
  const errors = owners.flatMap((owner) => {
    const missing: FieldError[] = [];
    if ((owner.apiVersion ?? '') === '') {
      missing.push(invalid(`${path}.apiVersion`, '', 'version must not be empty'));
    }
    for (const name of ['kind', 'name', 'uid'] as const) {
      if ((owner[name] ?? '') === '') {
        missing.push(invalid(`${path}.${name}`, '', 'must not be empty'));
      }
    }
    return missing;
  });
  const controllers = owners.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    const [first, second] = controllers.map(({ kind, name }) => `${kind}/${name}`);
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${first ?? ''} and ${second ?? ''}`;
    errors.push(invalid(path, owners, detail));
  }
  return errors;
}

const policyFinalizers = ['orphan', 'foregroundDeletion'];
const plainFinalizers = [...policyFinalizers, 'kubernetes'];

/** Built-in kinds require a domain in finalizer names, except for the standard names. */
export function validateFinalizerNames({ metadata }: KubeObject): FieldError[] {
  return (metadata.finalizers ?? []).flatMap((finalizer, index) => {
    if (finalizer.includes('/') || plainFinalizers.includes(finalizer)) return [];
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return [invalid(`metadata.finalizers[${index}]`, finalizer, detail)];
  });
}

function validateFinalizers(metadata: ObjectMeta, old: ObjectMeta | undefined): FieldError[] {
  const path = 'metadata.finalizers';
  const finalizers = metadata.finalizers ?? [];
  const errors = finalizers.flatMap((finalizer) =>
    qualifiedNameErrors(finalizer).map((why) => invalid(path, finalizer, why)),
  );
  if (policyFinalizers.every((one) => finalizers.includes(one))) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set';
    errors.push(invalid(path, finalizers, detail));
  }
  const had = old?.finalizers ?? [];
  const isDeleted = old?.deletionTimestamp !== undefined;
  const added = finalizers.filter((finalizer) => !had.includes(finalizer)).sort();
  if (isDeleted && added.length > 0 && !jsonEqual(finalizers, had)) {
    const list = added.map((one) => JSON.stringify(one)).join(', ');
    const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
    errors.push(forbidden(path, detail));
  }
  return errors;
}
