import { expect, test } from 'vitest';
import { allMetrics } from '../reference-sources.ts';
import { alertGroups } from './alerts.ts';
import { expressionsOf, grafanaDashboard } from './grafana.ts';
import { runbooksPage } from './prometheus.ts';

interface Dashboard {
  readonly panels: readonly {
    readonly type: string;
    readonly gridPos: { readonly x: number; readonly y: number };
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const alerts = alertGroups.flatMap((group) => group.alerts);
const known = new Set(
  allMetrics.flatMap(({ name, kind }) =>
    kind === 'histogram' ? [name, `${name}_bucket`] : [name],
  ),
);

test.each(alerts)('$name uses existing metrics, with their labels', (alert) => {
  for (const text of [alert.expression, ...Object.keys(alert.example)]) {
    for (const [, name = '', selector = ''] of text.matchAll(/(causeway_\w+)(\{[^}]*\})?/g)) {
      expect(known).toContain(name);
      const metric = allMetrics.find((each) => name.replace(/_bucket$/, '') === each.name);
      const outside = ['instance', 'job', 'pod', 'le'];
      for (const [, label = ''] of selector.matchAll(/(\w+)[=!]/g)) {
        expect([...(metric?.labels ?? []), ...outside]).toContain(label);
      }
    }
  }
});

test('alerts have unique names, and each has a section of the runbooks', () => {
  const names = alerts.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const page = runbooksPage();
  for (const name of names) expect(page).toContain(`### ${name}\n`);
});

test('the Grafana dashboard shows every metric once, each in its own place', () => {
  const { panels } = JSON.parse(grafanaDashboard()) as Dashboard;
  const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(shown).toEqual(
    expect.arrayContaining(allMetrics.flatMap(expressionsOf).map(({ expr }) => expr)),
  );
  expect(panels.filter(({ type }) => type !== 'row')).toHaveLength(allMetrics.length);
  const places = panels.map(({ gridPos: { x, y } }) => `${x},${y}`);
  expect(new Set(places).size).toBe(places.length);
});
