import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseScenario } from './scenario.ts';

const examples = path.join(import.meta.dirname, '../../../..', 'examples', 'scenarios');

test.each(fs.readdirSync(examples))('reads the example %s', (name) => {
  const scenario = parseScenario(fs.readFileSync(path.join(examples, name), 'utf8'), name);
  expect(scenario.objects.length + scenario.loadBalancers.length).toBeGreaterThan(0);
});

test.each([
  ['a: [', 'f, document 1: '],
  ['kind: Service', 'f, document 1: apiVersion'],
  ['{apiVersion: v1, kind: Service, metadata: {}}', 'f, document 1: metadata.name'],
  [
    '{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\nkind: LoadBalancers',
    'f, document 2: items',
  ],
  ['{apiVersion: x/v1, kind: Y, metadata: {name: a}}', 'f: x/v1 Y is not known here'],
])('refuses %j', (text, message) => {
  expect(() => parseScenario(text, 'f')).toThrow(message);
});
