import { expect, test } from 'vitest';
import { ReconcileReasons } from './reconcile-reasons.ts';

test('passes reasons on while a consumer is connected', () => {
  const reasons = new ReconcileReasons();
  const seen: string[] = [];
  reasons.add('shop/before', 'its endpoints changed');
  const disconnect = reasons.connect((key, reason) => seen.push(`${key}: ${reason}`));
  reasons.add('shop/web', 'the nodes changed');
  disconnect();
  reasons.add('shop/after', 'its endpoints changed');
  expect(seen).toEqual(['shop/web: the nodes changed']);
});

test('keeps the newer of two connections', () => {
  const reasons = new ReconcileReasons();
  const seen: string[] = [];
  const disconnectFirst = reasons.connect(() => seen.push('first'));
  reasons.connect(() => seen.push('second'));
  disconnectFirst();
  reasons.add('shop/web', 'the nodes changed');
  expect(seen).toEqual(['second']);
});
