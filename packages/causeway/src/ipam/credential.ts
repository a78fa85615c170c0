import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { CredentialRecord } from './records.ts';
import type { Kept } from './site-view.ts';
import type { View } from './view.ts';

/** A new token: the text for its owner, and the record for the ledger. */
export interface MintedToken {
  readonly id: string;
  readonly hash: string;
  readonly token: string;
}

const tokenPattern = /^cwy_([A-Za-z0-9]{16})_([A-Za-z0-9_-]{43})$/;

export function mintToken(): MintedToken {
  const id = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  return { id, hash: hashSecret(secret), token: `cwy_${id}_${secret}` };
}

/** Credential that a request presents. */
export interface Presented {
  readonly id: string;
  readonly hash: string;
}

export function presentToken(token: string): Presented | undefined {
  const [, id, secret] = tokenPattern.exec(token) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, hash: hashSecret(secret) };
}

/**
 * A client certificate's credential is named after its fingerprint. The TLS layer has verified possession.
 */
export function presentCertificate(certificate: Buffer): Presented {
  const hash = createHash('sha256').update(certificate).digest('hex');
  return { id: certificateId(hash), hash };
}

export function certificateId(fingerprint: string): string {
  return `cert-${fingerprint.slice(0, 32)}`;
}

/** A secret has 256 random bits, so it can't be guessed and one round of hashing is enough. */
function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Permission that a request needs. It follows from the path, never from the body. */
export type Permission =
  | { readonly kind: 'operator' }
  /** The cluster itself, or an operator. */
  | { readonly kind: 'cluster'; readonly site: string; readonly cluster: string }
  /** Any valid credential of the site; the answer depends on the caller. */
  | { readonly kind: 'site'; readonly site: string };

/** The caller. `system` is the server itself. */
export type Caller = Presented | 'system';

/** An authorized caller: its name in the audit log, and the key of its credential. */
export interface Grant {
  readonly actor: string;
  readonly key: string | undefined;
  readonly credential: CredentialRecord | undefined;
}

/**
 * Throws `unauthorized` or `forbidden`. The message is the same for an unknown, a wrong and a void
 * credential.
 */
export function authorise(view: View, caller: Caller, needs: Permission, now: number): Grant {
  if (caller === 'system') return { actor: 'system', key: undefined, credential: undefined };
  const credential = view.credential(caller.id);
  if (credential === undefined || !isValid(view, credential, caller, now)) {
    throw new CausewayError('unauthorized', 'the credential is unknown, revoked or expired');
  }
  const { record } = credential;
  const grant = { actor: actorOf(record), key: credential.key, credential: record };
  if (record.role === 'operator') return grant;
  if (needs.kind !== 'operator' && record.site === needs.site) {
    if (needs.kind === 'site' || record.cluster === needs.cluster) return grant;
  }
  throw new CausewayError('forbidden', `${grant.actor} may not do this`, {
    hint: 'A credential is valid for one cluster only; pools and other clusters require an operator.',
  });
}

/**
 * Whether the view has the credential, whatever its permissions: an unknown caller costs no more than this
 * check.
 */
export function isKnown(view: View, presented: Presented, now: number): boolean {
  const credential = view.credential(presented.id);
  return credential !== undefined && isValid(view, credential, presented, now);
}

function isValid(
  view: View,
  credential: Kept<CredentialRecord>,
  presented: Presented,
  now: number,
): boolean {
  const { hash, expiresAt, role, site, cluster, clusterId } = credential.record;
  const known = Buffer.from(hash, 'hex');
  const shown = Buffer.from(presented.hash, 'hex');
  if (known.length !== shown.length || !timingSafeEqual(known, shown)) return false;
  if (expiresAt !== undefined && expiresAt <= now) return false;
  if (role === 'operator') return true;
  // Bound to one cluster for good: a later cluster of the same name is a different one.
  const living = view.site(site ?? '')?.clusters.get(cluster ?? '');
  return living !== undefined && living.record.id === clusterId;
}

export function actorOf(record: CredentialRecord): string {
  return record.role === 'operator'
    ? `operator ${record.note ?? record.id}`
    : `cluster ${record.site}/${record.cluster} (${record.id})`;
}
