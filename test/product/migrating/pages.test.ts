import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { pageNames, pageText, stepsOf } from './migration-page.ts';

test.each(pageNames)('the steps of %s are a test, and the page names it', (name) => {
  expect(stepsOf(name)).not.toEqual([]);
  const file = path.join(import.meta.dirname, `${name}.test.ts`);
  const source = fs.readFileSync(file, 'utf8');
  expect(source).toContain(`new MigrationPage('${name}')`);
  expect(source).toContain('page.end();');
  expect(pageText(name)).toContain(`npm test -- test/product/migrating/${name}`);
});
