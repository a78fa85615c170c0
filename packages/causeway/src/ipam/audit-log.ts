import type { Ledger } from './ledger.ts';
import { auditRoot, auditTime } from './keys.ts';
import { auditRecordSchema, type AuditRecord } from './records.ts';

export interface AuditQuery {
  readonly site?: string | undefined;
  readonly cluster?: string | undefined;
  readonly address?: string | undefined;
  readonly action?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly limit: number;
}

const pageSize = 500;
/** A search for rare records ends after this many and returns where to continue. */
const mostScanned = 50_000;

export interface AuditAnswer {
  /** Newest first. */
  readonly records: readonly AuditRecord[];
  /** Set if there may be more: ask again with this value as `until`. */
  readonly next: number | undefined;
}

export async function queryAudit(
  ledger: Ledger,
  query: AuditQuery,
  signal: AbortSignal,
): Promise<AuditAnswer> {
  const from = auditRoot + auditTime(query.since ?? 0);
  let to = auditRoot + auditTime(query.until === undefined ? 9_999_999_999_999 : query.until + 1);
  const records: AuditRecord[] = [];
  for (let scanned = 0; scanned < mostScanned; scanned += pageSize) {
    const page = await ledger.scan({ from, to, limit: pageSize, newestFirst: true }, signal);
    for (const entry of page) {
      const record = auditRecordSchema.parse(JSON.parse(entry.value));
      if (!matches(record, query)) continue;
      records.push(record);
      if (records.length === query.limit) return { records, next: record.at };
    }
    const last = page.at(-1);
    if (page.length < pageSize || last === undefined) return { records, next: undefined };
    to = last.key;
  }
  return { records, next: Number(to.slice(auditRoot.length, auditRoot.length + 13)) };
}

function matches(record: AuditRecord, { site, cluster, address, action }: AuditQuery): boolean {
  if (site !== undefined && record.site !== site) return false;
  if (cluster !== undefined && record.cluster !== cluster) return false;
  if (action !== undefined && record.action !== action) return false;
  return address === undefined || record.addresses?.includes(address) === true;
}
