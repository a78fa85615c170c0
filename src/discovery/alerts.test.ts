import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { discoveryMetricDefinitions } from './discovery-metrics.ts';

const root = path.join(import.meta.dirname, '..', '..');

test('the alerts speak of metrics that there are', async () => {
  const file = path.join(root, 'deploy', 'prometheus', 'discovery.rules.yaml');
  const { groups } = parse(await fs.readFile(file, 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  const used = rules.flatMap(({ expr }) => expr.match(/causeway_\w+/g) ?? []);
  expect(used).toHaveLength(rules.length);
  const names = discoveryMetricDefinitions.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(used));
});
