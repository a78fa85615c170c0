import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.dirname(import.meta.dirname);
const page = fs.readFileSync(path.join(root, 'docs', 'security.md'), 'utf8');

interface Threat {
  readonly threat: string;
  readonly shownBy: string;
}

const threats: readonly Threat[] = page
  .slice(page.indexOf('| threat |'))
  .split('\n')
  .slice(2)
  .filter((line) => line.startsWith('| ') && line.split(' | ').length === 3)
  .map((line) => {
    const [threat = '', , shownBy = ''] = line.slice(2, -2).split(' | ');
    return { threat, shownBy };
  });

test('the page has threats', () => {
  expect(threats.length).toBeGreaterThan(25);
});

test.each(threats)('a test shows: $threat', ({ shownBy }) => {
  const named = [...shownBy.matchAll(/`([\w./-]+\.test\.ts)`((?:,? "[^"]+")+)/g)];
  expect(named.length, shownBy).toBeGreaterThan(0);
  for (const [, file = '', words = ''] of named) {
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    for (const [, title = ''] of words.matchAll(/"([^"]+)"/g)) expect(text).toContain(title);
  }
});

test('every long-running process is on the page', () => {
  const table = page.slice(0, page.indexOf('## What each credential'));
  for (const name of ['controller', 'agent', 'proxy', 'ipam serve', 'discover', 'playground']) {
    expect(table).toContain(`| \`${name}\` |`);
  }
});

/** A new server has to be added to the fuzzing of all servers. */
test('every server has the limits of the one HTTP server', () => {
  const opened: string[] = [];
  for (const file of fs.globSync('packages/*/src/**/*.ts', { cwd: root })) {
    // The pods of the playground answer on connections that another server accepts.
    if (file.endsWith('.test.ts') || file.includes('/playground/')) continue;
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    if (/https?\.createServer\(/.test(text)) opened.push(file);
  }
  expect(opened).toEqual(['packages/base/src/http/http-server.ts']);
});
