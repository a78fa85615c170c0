import { expect, test } from 'vitest';
import { holderOf, withoutOurMarks } from './hand-back.ts';
import { recordAnnotation } from './record.ts';

test("removes Causeway's marks, and keeps a Service that is being deleted", () => {
  const finalizers = ['other/one', 'service.kubernetes.io/load-balancer-cleanup'];
  const metadata = { name: 'web', resourceVersion: '7', finalizers };
  expect(withoutOurMarks({ metadata }, ['one/more'])).toEqual({
    kind: 'patch',
    patch: {
      metadata: {
        resourceVersion: '7',
        annotations: { [recordAnnotation]: null, 'one/more': null },
        finalizers: ['other/one'],
      },
    },
  });
  const deleted = { metadata: { ...metadata, deletionTimestamp: 'x' } };
  expect(withoutOurMarks(deleted)).toMatchObject({ kind: 'keep' });
});

test('reports no holder for a released or expired lease', () => {
  const spec = { holderIdentity: 'a', renewTime: '2026-01-01T00:00:00.000000Z' };
  const now = Date.UTC(2026, 0, 1);
  expect(holderOf({ spec }, now + 14_000)).toBe('a');
  expect(holderOf({ spec }, now + 16_000)).toBeUndefined();
  expect(holderOf({ spec: { ...spec, holderIdentity: '' } }, now)).toBeUndefined();
  expect(holderOf(undefined, now)).toBeUndefined();
});
