import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { suites, suitesOf } from './suites.ts';

const root = path.dirname(import.meta.dirname);
const { scripts } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

test.each(suites)('package.json has the script of the suite $name', ({ script }) => {
  const flag = script === 'test' ? '' : ` --suites=${script}`;
  expect(scripts[script]).toBe(`node scripts/launch.js scripts/test.ts${flag}`);
});

/** CI has 45 minutes. The check and the start need the rest. */
const groupMinutes = 40;

test.each(['computing', 'waiting'])('the group %s of npm test fits CI', (group) => {
  const minutes = suitesOf('test')
    .filter((suite) => suite.group === group)
    .reduce((sum, suite) => sum + suite.minutes, 0);
  expect(minutes).toBeLessThanOrEqual(groupMinutes);
});

test('every test file belongs to exactly one suite', () => {
  const owners = new Map<string, string[]>();
  for (const { name, folders } of suites) {
    for (const file of folders.flatMap((folder) => filesMatching(`${folder}/**/*.test.ts`))) {
      owners.set(file, [...(owners.get(file) ?? []), name]);
    }
  }
  const files = ['bench', 'packages', 'scripts', 'test'].flatMap((folder) =>
    filesMatching(`${folder}/**/*.test.ts`),
  );
  expect(files.filter((file) => owners.get(file)?.length !== 1)).toEqual([]);
});

test('every folder of a suite has test files', () => {
  const empty = suites
    .flatMap(({ folders }) => folders)
    .filter((folder) => filesMatching(`${folder}/**/*.test.ts`).length === 0);
  expect(empty).toEqual([]);
});

function filesMatching(pattern: string): string[] {
  return fs.globSync(pattern, { cwd: root, exclude: (name) => name === 'node_modules' }).toSorted();
}
