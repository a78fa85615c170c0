import { CausewayError } from '@causeway/base/error/causeway-error';
import { deciding, findCluster, findSite, put, remove, type Decide } from './decision.ts';
import { keys } from './keys.ts';
import type { CredentialRecord, CredentialSummary } from './records.ts';

export function summaryOf({ hash: _secret, ...summary }: CredentialRecord): CredentialSummary {
  return summary;
}

export interface IssueRequest {
  readonly id: string;
  readonly hash: string;
  readonly kind: 'token' | 'certificate';
  /** Undefined: an operator's credential. */
  readonly boundTo: { readonly site: string; readonly cluster: string } | undefined;
  readonly note?: string | undefined;
  readonly lifetimeMs?: number | undefined;
  readonly reason?: string | undefined;
}

export function issueCredential(request: IssueRequest): Decide<CredentialSummary> {
  return (view, { now }) =>
    deciding(() => {
      const { id, hash, kind, boundTo, note, lifetimeMs, reason } = request;
      const key = keys.credential(id);
      const known = view.credential(id)?.record;
      if (known !== undefined && (known.hash !== hash || known.cluster !== boundTo?.cluster)) {
        throw new CausewayError('conflict', `credential ${id} exists already`);
      }
      const cluster =
        boundTo === undefined
          ? undefined
          : findCluster(findSite(view, boundTo.site).view, boundTo.cluster);
      const record: CredentialRecord = {
        id,
        hash,
        kind,
        role: cluster === undefined ? 'operator' : 'cluster',
        site: boundTo?.site,
        cluster: boundTo?.cluster,
        clusterId: cluster?.record.id,
        note,
        createdAt: known?.createdAt ?? now,
        expiresAt: lifetimeMs === undefined ? undefined : now + lifetimeMs,
      };
      return {
        kind: 'change',
        reads: [key, ...(cluster === undefined ? [] : [cluster.key])],
        writes: [put(key, record)],
        audit: {
          action: 'issue-credential',
          site: boundTo?.site,
          cluster: boundTo?.cluster,
          reason,
          detail: { credential: id, role: record.role, kind },
        },
        answer: summaryOf(record),
      };
    });
}

/** Takes effect with its transaction: running calls with this credential compare its key and are refused. */
export function revokeCredential(request: {
  readonly id: string;
  readonly reason?: string | undefined;
}): Decide<{ revoked: boolean }> {
  return (view) => {
    const known = view.credential(request.id);
    if (known === undefined) return { kind: 'answer', answer: { revoked: false } };
    return {
      kind: 'change',
      reads: [known.key],
      writes: [remove(known.key)],
      audit: {
        action: 'revoke-credential',
        site: known.record.site,
        cluster: known.record.cluster,
        reason: request.reason,
        detail: { credential: request.id },
      },
      answer: { revoked: true },
    };
  };
}

/** A new credential for the caller; its current credential stays valid for the overlap. */
export function rotateCredential(request: {
  readonly from: string;
  readonly id: string;
  readonly hash: string;
  readonly overlapMs: number;
}): Decide<CredentialSummary> {
  return (view, { now }) =>
    deciding(() => {
      const old = view.credential(request.from);
      if (old === undefined || old.record.kind !== 'token') {
        throw new CausewayError('invalid', 'only a token can be rotated', {
          hint: 'Have an operator register the new certificate.',
        });
      }
      const ends = Math.min(now + request.overlapMs, old.record.expiresAt ?? Infinity);
      // A limit that an operator set is kept. A credential that is rotated again after a lost answer expires
      // soon only because of the first rotation.
      const { first: _first, replaced, ...kept } = old.record;
      const expiresAt = replaced === undefined ? old.record.expiresAt : replaced.expiresAt;
      const record: CredentialRecord = {
        ...kept,
        id: request.id,
        hash: request.hash,
        createdAt: now,
        expiresAt,
      };
      const key = keys.credential(request.id);
      return {
        kind: 'change',
        reads: [old.key, key],
        writes: [
          put(key, record),
          put(old.key, {
            ...old.record,
            expiresAt: ends,
            replaced: { expiresAt },
            first: undefined,
          }),
        ],
        audit: {
          action: 'rotate-credential',
          site: record.site,
          cluster: record.cluster,
          detail: { credential: request.id, replaces: request.from },
        },
        answer: summaryOf(record),
      };
    });
}
