import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { alertGroups } from '../../scripts/operations/alerts.ts';
import { expressionsOf } from '../../scripts/operations/grafana.ts';
import { alertTests, prometheusFiles } from '../../scripts/operations/prometheus.ts';
import { allMetrics } from '../../scripts/reference-sources.ts';
import { ensureDebianPackages } from '../services/debian-packages.ts';
import { isAvailable } from '../services/missing.ts';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

describe.skipIf(!(await isAvailable(() => ensureDebianPackages(['prometheus']))))(
  'alerts and dashboard in Prometheus',
  () => {
    let directory = '';
    const file = (name: string) => path.join(directory, name);
    beforeAll(async () => {
      directory = await scratchDirectory('prometheus');
      for (const [name, text] of Object.entries(prometheusFiles())) {
        await fs.writeFile(file(name), text);
      }
    });
    afterAll(() => removeDirectory(directory));
    const rules = alertGroups.map(({ name }) => `${name}.rules.yaml`);
    const promtool = (...words: string[]) => runProgram('promtool', words, { cwd: directory });

    test('the rules are valid', async () => {
      const checked = await promtool('check', 'rules', ...rules);
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    });

    test('each alert fires according to its example', async () => {
      await fs.writeFile(file('tests.yaml'), alertTests(rules));
      const tested = await promtool('test', 'rules', 'tests.yaml');
      expect(tested.code, tested.stdout + tested.stderr).toBe(0);
    });

    test("the dashboard's queries are valid for Prometheus", async () => {
      const expressions = allMetrics.flatMap(expressionsOf);
      const recorded = expressions.map(({ expr }, index) => ({
        record: `expression:${index}`,
        expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
      }));
      await fs.writeFile(
        file('panels.yaml'),
        stringify({ groups: [{ name: 'panels', rules: recorded }] }),
      );
      const checked = await promtool('check', 'rules', 'panels.yaml');
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    });
  },
);
