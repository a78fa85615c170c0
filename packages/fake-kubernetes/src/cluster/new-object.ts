import { randomInt, randomUUID } from 'node:crypto';
import { asObject, type JsonObject, type KubeObject } from '../object.ts';

/** Letters and digits that don't form words or resemble each other, as in the API server's name suffixes. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestGeneratedBase = 63 - suffixLength;

export function generatedName(base: string): string {
  let suffix = '';
  for (let index = 0; index < suffixLength; index += 1) {
    suffix += suffixAlphabet[randomInt(suffixAlphabet.length)] ?? '';
  }
  return base.slice(0, longestGeneratedBase) + suffix;
}

/** RFC 3339, precise to the second. */
export function timestamp(wallTime: number): string {
  return `${new Date(wallTime).toISOString().slice(0, 19)}Z`;
}

/** Sets the server-controlled fields of a new object and overwrites the caller's values. */
export function fillSystemFields(draft: KubeObject, wallTime: number): void {
  const { metadata } = draft;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = timestamp(wallTime);
  metadata.resourceVersion = '';
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  for (const name of ['generateName', 'namespace'] as const) {
    if (metadata[name] === '') delete metadata[name];
  }
}

/** Returns a body as an object with metadata. Missing metadata fields are empty. */
export function asDraft(body: JsonObject): KubeObject {
  const metadata = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
  return {
    apiVersion: '',
    kind: '',
    ...body,
    metadata: { ...metadata, ...asObject(body['metadata']) },
  };
}
