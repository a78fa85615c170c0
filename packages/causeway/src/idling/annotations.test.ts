import { describe, expect, it } from 'vitest';
import { formatIdledAt, formatTargets, idledAt, idledAtTime, parseTargets } from './annotations.ts';

describe('the targets of an idle Service', () => {
  it.each([
    [
      'as oc writes them',
      '[{"kind":"Deployment","name":"web","group":"apps","replicas":3}]',
      [{ kind: 'Deployment', name: 'web', group: 'apps', replicas: 3 }],
    ],
    [
      'as very old versions of oc did',
      '[{"kind":"Deployment","name":"web","apiVersion":"extensions/v1beta1","replicas":1}]',
      [{ kind: 'Deployment', name: 'web', group: 'extensions', replicas: 1 }],
    ],
    [
      'in the core group',
      '[{"kind":"ReplicationController","name":"web","replicas":2}]',
      [{ kind: 'ReplicationController', name: 'web', group: '', replicas: 2 }],
    ],
    ['none', undefined, []],
  ])('are read %s', (_, text, targets) => {
    expect(parseTargets(text)).toEqual({ ok: true, targets });
  });

  it.each(['{', '{}', '[{"kind":"Deployment"}]', '[{"kind":"D","name":"x","replicas":-1}]'])(
    'rejects %s with a message that names the annotation',
    (text) => {
      const parsed = parseTargets(text);
      expect(parsed.ok).toBe(false);
      expect(JSON.stringify(parsed)).toContain('unidle-targets');
    },
  );

  it('are written as oc writes them', () => {
    const targets = [
      { kind: 'ReplicationController', name: 'a', group: '', replicas: 2 },
      { kind: 'Deployment', name: 'b', group: 'apps', replicas: 1 },
    ];
    expect(formatTargets(targets)).toBe(
      '[{"kind":"ReplicationController","name":"a","replicas":2},{"kind":"Deployment","name":"b","group":"apps","replicas":1}]',
    );
    expect(parseTargets(formatTargets(targets))).toEqual({ ok: true, targets });
  });
});

it('the idled-at time has whole seconds, and any text counts as idle', () => {
  expect(formatIdledAt(1_700_000_000_999)).toBe('2023-11-14T22:13:20Z');
  const marked = (value: string) => ({ metadata: { annotations: { [idledAt]: value } } });
  expect(idledAtTime(marked('2023-11-14T22:13:20Z'))).toBe(1_700_000_000_000);
  expect(idledAtTime(marked('yes'))).toBeUndefined();
});
