import { expect, test } from 'vitest';
import { formatObjects } from './output.ts';

const rows = [
  { name: 'web', address: '192.0.2.10', ports: [80] },
  { name: 'a-longer-name', address: '', ports: [] },
];
const columns = [
  { title: 'name', value: (row: (typeof rows)[number]) => row.name },
  { title: 'address', value: (row: (typeof rows)[number]) => row.address },
];

test('prints aligned columns for people', () => {
  expect(formatObjects('table', rows, columns)).toBe(
    'NAME            ADDRESS\nweb             192.0.2.10\na-longer-name\n',
  );
});

test('a wide table has more columns', () => {
  const wide = [...columns, { title: 'ports', isWide: true, value: () => 'x' }];
  expect(formatObjects('table', rows, wide)).not.toContain('PORTS');
  expect(formatObjects('wide', rows, wide)).toContain('PORTS');
});

test('prints everything for programs', () => {
  expect(JSON.parse(formatObjects('json', rows, columns))).toEqual(rows);
  expect(formatObjects('yaml', rows, columns)).toContain('name: web');
});

test('removes line breaks and controls of foreign names from a table', () => {
  const hostile = [{ name: 'a\nb\u001b[2J\u009b', address: '', ports: [] }];
  expect(formatObjects('table', hostile, columns)).toBe(
    'NAME                      ADDRESS\na\\u000ab\\u001b[2J\\u009b\n',
  );
});
