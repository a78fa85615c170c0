import { describe, expect, test } from 'vitest';
import { evaluateJsonPath, parseJsonPath } from './json-path.ts';

const object = {
  spec: { replicas: 3, 'odd-name': true, ports: [{ port: 80 }, { port: 443 }] },
  status: {
    conditions: [
      { type: 'Synced', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
};

describe('JSONPath', () => {
  test.each<readonly [string, unknown[]]>([
    ['.spec.replicas', [3]],
    ['.spec.odd-name', [true]],
    [".spec['odd-name']", [true]],
    ['.spec.ports[0].port', [80]],
    ['.spec.ports[-1].port', [443]],
    ['.spec.ports[*].port', [80, 443]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Synced')].status", ['False']],
    ['.spec.absent.deeper', []],
    ['{.spec.replicas}', [3]],
  ])('%s', (text, values) => {
    expect(evaluateJsonPath(parseJsonPath(text) ?? [], object)).toEqual(values);
  });

  test.each(['spec.replicas', '.spec[', '.a[?(@.b>1)]'])('does not support %s', (text) => {
    expect(parseJsonPath(text)).toBeUndefined();
  });
});
