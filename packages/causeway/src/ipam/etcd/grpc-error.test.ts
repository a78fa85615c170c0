import { expect, test } from 'vitest';
import { grpcError } from './grpc-error.ts';

test('reports a full etcd at once and with a remedy, unlike a busy etcd', () => {
  const full = grpcError(8, 'etcdserver: mvcc: database space exceeded');
  expect(full.code).toBe('exhausted');
  expect(full.hint).toContain('alarm disarm');
  expect(grpcError(8, 'etcdserver: too many requests').code).toBe('unavailable');
  expect(grpcError(14, 'etcdserver: leader changed').code).toBe('unavailable');
});
