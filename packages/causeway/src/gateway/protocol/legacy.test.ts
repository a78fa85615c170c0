import { expect, test } from 'vitest';
import { fromLegacyKind } from './legacy.ts';
import { UpdateReader } from './update.ts';

test('reads the frontends of an update of 0.1.0', () => {
  const reader = new UpdateReader();
  const web = { address: '192.0.2.1', protocol: 'TCP', port: 80 };
  const former = { ...web, port: 81 };
  for (const line of [
    { causeway: 'agent/v2', revision: 1, kind: 'delta', generation: 2, base: 1 },
    { endpoint: { ...web, nodePort: 30_080 } },
    { removeEndpoint: former },
    { end: { records: 2 } },
  ]) {
    reader.line(JSON.stringify(line));
  }
  const { frontends, removedFrontends, complaints } = reader.result();
  expect([...frontends.keys()]).toEqual(['192.0.2.1:80/TCP']);
  expect([...removedFrontends]).toEqual(['192.0.2.1:81/TCP']);
  expect(complaints).toEqual([]);
});

test('leaves other kinds of records unchanged', () => {
  expect(['frontend', 'policy', 'toString'].map(fromLegacyKind)).toEqual([
    'frontend',
    'policy',
    'toString',
  ]);
});
