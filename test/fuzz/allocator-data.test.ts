import fs from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAnswer, readText } from '../../packages/causeway/src/ipam/api/answer.ts';
import { operations } from '../../packages/causeway/src/ipam/api/operations.ts';
import { errorOf } from '../../packages/causeway/src/ipam/api/problem.ts';
import { backupSchema, restoreBackup } from '../../packages/causeway/src/ipam/backup.ts';
import { stateRoot } from '../../packages/causeway/src/ipam/keys.ts';
import { View } from '../../packages/causeway/src/ipam/view.ts';
import { MemoryLedger } from '../doubles/memory-ledger.ts';
import { attempt, attemptAsync, hostileJson, hostileText, nearly, nearlyText } from './hostile.ts';

const { signal } = new AbortController();
const samples = path.join(import.meta.dirname, '../upgrade/samples/0.1.0/ledger-etcd');
const sound = backupSchema.parse(
  JSON.parse(await fs.readFile(path.join(samples, 'backup.json'), 'utf8')),
);

describe('restored data', () => {
  test('of any backup is loaded by a server, or nothing of it is written', async () => {
    const tries = fc.oneof(nearly(sound), hostileJson, fc.constant(sound));
    let restoredOnes = 0;
    await fc.assert(
      fc.asyncProperty(tries, fc.constantFrom('restore', 'move'), async (value, mode) => {
        const backup = backupSchema.safeParse(value);
        if (!backup.success) return;
        const ledger = new MemoryLedger();
        const count = await attemptAsync(() =>
          restoreBackup(ledger, backup.data, mode, 1_700_000_000_000, signal),
        );
        const { entries } = await ledger.load(stateRoot, signal);
        new View().fill(entries);
        if (count === undefined) expect(entries).toEqual([]);
        else restoredOnes += 1;
      }),
      { numRuns: 300 },
    );
    expect(restoredOnes).toBeGreaterThan(10);
  });

  test('of a ledger is a valid record, or its key is named', () => {
    const entry = fc.constantFrom(...sound.entries);
    const value = fc.oneof(
      hostileText,
      hostileJson.map((each) => JSON.stringify(each)),
    );
    fc.assert(
      fc.property(entry, value, fc.boolean(), ({ key, value: known }, other, isOther) => {
        const text = isOther ? other : JSON.stringify(known).replace(/\d/, 'x');
        // It is from Causeway's own store, so an invalid record is a defect.
        const batch = { revision: 1, changes: [{ key, value: text, revision: 1 }] };
        attempt(() => new View().apply(batch), ['internal']);
      }),
      { numRuns: 300 },
    );
  });
});

describe('an allocator that answers anything', () => {
  const reservation = {
    uid: 'u',
    namespace: 'shop',
    name: 'web',
    cluster: 'blue',
    fencingToken: 3,
    addresses: [{ address: '192.0.2.1', pool: 'p', family: 4 }],
  };
  const answers = fc.oneof(
    hostileText,
    fc
      .oneof(
        hostileJson,
        nearly({ state: 'held', reservation }),
        nearly({ items: [reservation] }),
        nearly({ code: 'conflict', reason: 'address-in-use', message: 'no', hint: 'ask' }),
      )
      .map((value) => JSON.stringify(value)),
    nearlyText('{"items":[]}'),
  );

  test('is accepted only as the call defines it, and its messages are short', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(operations)),
        fc.constantFrom(200, 204, 302, 400, 401, 404, 409, 429, 500, 503),
        answers,
        (operation, status, text) => {
          const answer = attempt(() => readAnswer(operation, status, text), ['internal']);
          if (answer !== undefined) expect(status).toBeLessThan(300);
        },
      ),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 599 }), hostileJson, hostileText, (status, x, y) => {
        for (const body of [x, { code: y, message: y.repeat(100), hint: y, reason: y }]) {
          const { code, message, hint = '' } = errorOf(status, body);
          // Only the client itself reports that it gave up.
          expect(code).not.toBe('aborted');
          expect(message.length + hint.length).toBeLessThan(20_000);
          // oxlint-disable-next-line no-control-regex
          expect(message + hint).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        }
      }),
    );
  });

  test('may not answer without end', async () => {
    async function* endless() {
      for (;;) yield await Promise.resolve(Buffer.alloc(1000));
    }
    await expect(readText(endless(), 10_000)).rejects.toMatchObject({ code: 'unavailable' });
    const pieces = [Buffer.from('ü').subarray(0, 1), Buffer.from('ü').subarray(1)];
    async function* cut() {
      for (const piece of pieces) yield await Promise.resolve(piece);
    }
    expect(await readText(cut())).toBe('ü');
  });
});
