// Types, lint, format, borders, dead code, patterns, vocabulary and sentences: all checks that run no product code.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { completeLock, formatLock } from './complete-lock.ts';
import { findLayerViolations } from './layers.ts';
import { readLock } from './lock-file.ts';
import { findSlowPatterns } from './patterns.ts';
import { findLongSentences, findVagueWords } from './sentences.ts';
import { findPrivateTerms } from './vocabulary.ts';

const root = path.dirname(import.meta.dirname);

interface Check {
  readonly name: string;
  run(): Promise<string | undefined>;
}

/** Undefined if the program succeeds, otherwise its output. */
const run = (file: string, args: readonly string[]) => () =>
  new Promise<string | undefined>((resolve) => {
    const child = spawn(file, args, { cwd: root });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? undefined : output));
  });
const script = (...command: readonly string[]) => run(process.execPath, command);
const program = (name: string, ...args: readonly string[]) =>
  run(path.join(root, 'node_modules', '.bin', name), args);

const checks: readonly Check[] = [
  { name: 'types', run: program('tsc', '--project', '.') },
  {
    name: 'types of the pages',
    run: program('tsc', '--project', 'packages/causeway/src/console/dashboard/pages'),
  },
  { name: 'lint', run: program('oxlint', '--type-aware', '--quiet') },
  { name: 'format', run: program('biome', 'format', '.') },
  { name: 'dead code', run: program('knip', '--no-progress') },
  { name: 'references', run: script('scripts/docs.ts', '--check') },
  {
    name: 'lock file',
    run: async () => {
      const lock = readLock();
      if (formatLock(completeLock(lock)) === formatLock(lock)) return undefined;
      return 'package-lock.json lacks optional packages, and "npm ci" rejects it: run npm run lock';
    },
  },
  {
    name: 'patterns',
    async run() {
      const slow = await findSlowPatterns(root);
      return slow.length === 0 ? undefined : slow.join('\n');
    },
  },
  {
    name: 'vocabulary',
    async run() {
      const terms = await findPrivateTerms(root);
      return terms.length === 0
        ? undefined
        : `${terms.join('\n')}\n(docs/glossary.md has the words)`;
    },
  },
  {
    name: 'sentences',
    async run() {
      const long = await findLongSentences(root);
      if (long.length > 0) return `more than 30 words:\n${long.join('\n')}`;
      const vague = await findVagueWords(root);
      return vague.length === 0 ? undefined : `name the component:\n${vague.join('\n')}`;
    },
  },
  {
    name: 'layers',
    async run() {
      const violations = await findLayerViolations(path.join(root, 'packages'));
      return violations.length === 0 ? undefined : violations.join('\n');
    },
  },
];

let failed = 0;
await Promise.all(
  checks.map(async (check) => {
    const started = performance.now();
    const complaint = await check.run();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${complaint === undefined ? 'ok    ' : 'FAILED'} ${check.name} (${seconds} s)`);
    if (complaint === undefined) return;
    console.log(complaint.trimEnd());
    failed += 1;
  }),
);
process.exit(failed === 0 ? 0 : 1);
