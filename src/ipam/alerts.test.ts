import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { allocatorMetricDefinitions } from './allocator-metrics.ts';
import { usageMetricDefinitions } from './usage.ts';

test('the alerts speak of metrics that there are', async () => {
  const file = path.join(
    import.meta.dirname,
    '..',
    '..',
    'deploy',
    'prometheus',
    'ipam.rules.yaml',
  );
  const { groups } = parse(await fs.readFile(file, 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  const names = [...allocatorMetricDefinitions, ...usageMetricDefinitions].map(({ name }) => name);
  const used = groups
    .flatMap(({ rules }) => rules)
    .flatMap(({ expr }) => expr.match(/causeway_\w+/g) ?? [])
    .map((name) => name.replace(/_bucket$/, ''));
  expect(used.length).toBeGreaterThanOrEqual(5);
  expect(names).toEqual(expect.arrayContaining(used));
});
