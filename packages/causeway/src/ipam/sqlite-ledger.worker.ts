// The embedded ledger's own thread, because SQLite's calls block.

import fs from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import { endOfPrefix, type Change, type Entry, type Scan, type Transaction } from './ledger.ts';
import type { CommitResult, SqliteAnswer, SqliteRequest } from './sqlite-protocol.ts';

const schemaVersion = 1;

class Store {
  readonly #database: DatabaseSync;
  readonly #select: StatementSync;
  readonly #upsert: StatementSync;
  readonly #delete: StatementSync;
  readonly #setRevision: StatementSync;
  #revision: number;

  constructor(file: string) {
    // The ledger contains hashes of credentials: only its owner can read it.
    fs.closeSync(fs.openSync(file, 'a', 0o600));
    this.#database = new DatabaseSync(file, { timeout: 0 });
    // Exclusive: a second server on the same file must fail instead of answering from its own memory.
    this.#database.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS entries
        (key TEXT PRIMARY KEY, value TEXT NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID, STRICT;
      CREATE TABLE IF NOT EXISTS ledger
        (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), revision INTEGER NOT NULL, version INTEGER NOT NULL) STRICT;
      INSERT OR IGNORE INTO ledger VALUES (1, 1, ${schemaVersion});
      COMMIT;
    `);
    const row = this.#database.prepare('SELECT revision, version FROM ledger').get();
    if (row?.['version'] !== schemaVersion) {
      throw new Error(`the file has schema ${String(row?.['version'])}, not ${schemaVersion}`);
    }
    this.#revision = Number(row['revision']);
    this.#select = this.#database.prepare('SELECT revision FROM entries WHERE key = ?');
    this.#upsert = this.#database.prepare(
      'INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision',
    );
    this.#delete = this.#database.prepare('DELETE FROM entries WHERE key = ?');
    this.#setRevision = this.#database.prepare('UPDATE ledger SET revision = ?');
  }

  get revision(): number {
    return this.#revision;
  }

  load(prefix: string): Entry[] {
    return this.#entries('key >= ? AND key < ? ORDER BY key', [prefix, endOfPrefix(prefix)]);
  }

  scan({ from, to, limit, newestFirst }: Scan): Entry[] {
    const order = newestFirst ? 'DESC' : 'ASC';
    return this.#entries(`key >= ? AND key < ? ORDER BY key ${order} LIMIT ?`, [from, to, limit]);
  }

  commitAll(transactions: readonly Transaction[]): CommitResult[] {
    const before = this.#revision;
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const results = transactions.map((transaction) => this.#apply(transaction));
      if (this.#revision !== before) this.#setRevision.run(this.#revision);
      this.#database.exec('COMMIT');
      return results;
    } catch (error) {
      this.#revision = before;
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  #apply({ conditions, writes }: Transaction): CommitResult {
    const holds = conditions.every(({ key, revision }) => this.#revisionOf(key) === revision);
    if (!holds) return { applied: false, revision: this.#revision, changes: [] };
    this.#revision += 1;
    const revision = this.#revision;
    const changes: Change[] = [];
    for (const { key, value } of writes) {
      if (value === undefined) this.#delete.run(key);
      else this.#upsert.run(key, value, revision);
      changes.push({ key, value, revision });
    }
    return { applied: true, revision, changes };
  }

  #revisionOf(key: string): number {
    return Number(this.#select.get(key)?.['revision'] ?? 0);
  }

  #entries(where: string, parameters: (string | number)[]): Entry[] {
    const statement = this.#database.prepare(
      `SELECT key, value, revision FROM entries WHERE ${where}`,
    );
    return statement.all(...parameters).map((row) => {
      return {
        key: String(row['key']),
        value: String(row['value']),
        revision: Number(row['revision']),
      };
    });
  }
}

let store: Store | undefined;

function answer(request: SqliteRequest): SqliteAnswer {
  if (request.kind === 'open') store = new Store(request.file);
  if (store === undefined) throw new Error('the ledger is not open');
  switch (request.kind) {
    case 'open':
      break;
    case 'load':
      return {
        kind: 'snapshot',
        snapshot: { entries: store.load(request.prefix), revision: store.revision },
      };
    case 'scan':
      return { kind: 'entries', entries: store.scan(request.scan) };
    case 'commit':
      return { kind: 'committed', results: store.commitAll(request.transactions) };
    case 'close':
      store.close();
  }
  return { kind: 'done', revision: store.revision };
}

parentPort?.on('message', (request: SqliteRequest) => {
  try {
    parentPort?.postMessage(answer(request));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const failed: SqliteAnswer = { kind: 'failed', message };
    parentPort?.postMessage(failed);
  }
  if (request.kind === 'close') parentPort?.close();
});
